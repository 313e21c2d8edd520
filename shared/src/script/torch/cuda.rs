//! `torch.cuda`: memory, streams, pools.

use std::cell::Cell;
use std::rc::Rc;

use super::gpu::{Context, DEVICE, Pool, StreamObject};
use crate::allocator::{Detail, FractionError, PoolOptions, Statistics, Stream};
use crate::script::builtins::table;
use crate::script::dict::{Dict, Key};
use crate::script::int;
use crate::script::machine::{Fault, Machine};
use crate::script::native::{Args, MethodFn, Native, NativeType, Outcome, Table, find};
use crate::script::value::Value;

const TABLE: Table = table![
    "empty_cache" => empty_cache, "memory_allocated" => memory_allocated,
    "memory_reserved" => memory_reserved, "max_memory_allocated" => max_memory_allocated,
    "max_memory_reserved" => max_memory_reserved, "memory_summary" => memory_summary,
    "memory_stats" => memory_stats, "reset_peak_memory_stats" => reset_peak,
    "reset_max_memory_allocated" => reset_peak,
    "reset_accumulated_memory_stats" => reset_accumulated,
    "set_per_process_memory_fraction" => set_fraction, "mem_get_info" => mem_get_info,
    "synchronize" => synchronize, "stream" => stream, "current_stream" => current_stream,
    "default_stream" => default_stream, "set_stream" => set_stream,
    "use_mem_pool" => use_mem_pool, "is_available" => is_available,
    "device_count" => device_count, "current_device" => current_device,
    "set_device" => nothing, "init" => init, "is_initialized" => is_initialized,
    "manual_seed" => nothing, "manual_seed_all" => nothing, "ipc_collect" => nothing,
    "get_device_properties" => properties, "get_device_name" => device_name,
    "get_per_process_memory_fraction" => get_fraction,
    "_set_allocator_settings" => set_allocator_settings,
    "get_allocator_backend" => backend, "_sleep" => sleep,
];

pub(super) fn attribute(machine: &mut Machine, name: &str) -> Result<Option<Value>, Fault> {
    if let Some(value) = find(TABLE, name) {
        return Ok(Some(value));
    }
    Ok(match name {
        "OutOfMemoryError" => Some(Value::Class(machine.exception_class(name))),
        "Stream" => Some(Value::Type(NativeType::Stream)),
        "MemPool" => Some(Value::Type(NativeType::Pool)),
        "memory" => Some(Value::Module("torch.cuda.memory")),
        "__name__" => Some(Value::text("torch.cuda")),
        _ => None,
    })
}

impl Machine {
    /// Statistics of the card; before its first use all are 0.
    fn statistics(&self) -> Statistics {
        let read = self
            .gpu
            .with(|allocator, _| allocator.statistics(DEVICE).copied());
        read.flatten().unwrap_or_default()
    }
}

fn empty_cache(machine: &mut Machine, args: &Args) -> Outcome {
    machine.expect("empty_cache", args, 0..=0, &[])?;
    machine
        .gpu
        .with(|allocator, events| allocator.empty_cache(events));
    Ok(Value::None)
}

fn memory_allocated(machine: &mut Machine, _args: &Args) -> Outcome {
    Ok(Value::Int(machine.statistics().allocated_bytes.all.current))
}

fn memory_reserved(machine: &mut Machine, _args: &Args) -> Outcome {
    Ok(Value::Int(machine.statistics().reserved_bytes.all.current))
}

fn max_memory_allocated(machine: &mut Machine, _args: &Args) -> Outcome {
    Ok(Value::Int(machine.statistics().allocated_bytes.all.peak))
}

fn max_memory_reserved(machine: &mut Machine, _args: &Args) -> Outcome {
    Ok(Value::Int(machine.statistics().reserved_bytes.all.peak))
}

fn memory_summary(machine: &mut Machine, args: &Args) -> Outcome {
    let abbreviated = match args.get(1, "abbreviated") {
        Some(value) => machine.truth(value)?,
        None => false,
    };
    let detail = if abbreviated {
        Detail::Abbreviated
    } else {
        Detail::Pools
    };
    Ok(Value::text(&machine.statistics().summary(DEVICE, detail)))
}

fn memory_stats(machine: &mut Machine, _args: &Args) -> Outcome {
    let dict = machine.heap.track(Dict::default());
    for (name, value) in machine.statistics().entries() {
        if let Ok(key) = Key::new(Value::text(&name)) {
            dict.entries.borrow_mut().insert(key, Value::Int(value));
        }
    }
    Ok(Value::Dict(dict))
}

fn change_statistics(machine: &mut Machine, change: fn(&mut Statistics)) -> Outcome {
    machine
        .gpu
        .with(|allocator, _| allocator.statistics_mut(DEVICE).map(change));
    Ok(Value::None)
}

fn reset_peak(machine: &mut Machine, _args: &Args) -> Outcome {
    change_statistics(machine, Statistics::reset_peak)
}

fn reset_accumulated(machine: &mut Machine, _args: &Args) -> Outcome {
    change_statistics(machine, Statistics::reset_accumulated)
}

fn set_fraction(machine: &mut Machine, args: &Args) -> Outcome {
    machine.expect(
        "set_per_process_memory_fraction",
        args,
        1..=2,
        &["fraction", "device"],
    )?;
    machine.start_cuda()?;
    let value = args.get(0, "fraction").cloned().unwrap_or(Value::None);
    if !matches!(value, Value::Float(_)) {
        let message = "Invalid type for fraction argument, must be `float`";
        return Err(machine.type_error(message));
    }
    let fraction = int::float(&value).unwrap_or_default();
    let set = machine
        .gpu
        .with(|allocator, _| allocator.set_memory_fraction(DEVICE, fraction));
    match set {
        Some(Err(FractionError::OutOfRange)) => {
            let shown = machine.str(&value)?;
            let message = format!("Invalid fraction value: {shown}. Allowed range: 0~1");
            Err(machine.raise("ValueError", message))
        }
        _ => {
            machine.fraction = fraction;
            Ok(Value::None)
        }
    }
}

fn get_fraction(machine: &mut Machine, _args: &Args) -> Outcome {
    Ok(Value::Float(machine.fraction))
}

fn set_allocator_settings(machine: &mut Machine, args: &Args) -> Outcome {
    machine.expect("_set_allocator_settings", args, 1..=1, &[])?;
    machine.start_cuda()?;
    let text = Rc::clone(machine.text_argument(&args.positional[0])?);
    let applied = machine
        .gpu
        .with(|allocator, _| allocator.settings_mut().apply(&text));
    match applied {
        Some(Err(error)) => Err(machine.raise("RuntimeError", error.to_string())),
        _ => Ok(Value::None),
    }
}

fn mem_get_info(machine: &mut Machine, _args: &Args) -> Outcome {
    machine.start_cuda()?;
    let free = Value::Int(machine.gpu.free_bytes() as i64);
    let total = Value::Int(machine.gpu.capacity() as i64);
    Ok(machine.tuple(vec![free, total]))
}

fn synchronize(machine: &mut Machine, _args: &Args) -> Outcome {
    machine.gpu.synchronize(None);
    Ok(Value::None)
}

fn sleep(machine: &mut Machine, _args: &Args) -> Outcome {
    machine.gpu.launch();
    Ok(Value::None)
}

pub(super) fn new_stream(machine: &mut Machine, _args: &Args) -> Outcome {
    let handle = machine.gpu.new_stream();
    Ok(Value::Stream(Rc::new(StreamObject { handle })))
}

pub(super) fn new_pool(machine: &mut Machine, args: &Args) -> Outcome {
    machine.start_cuda()?;
    let flag = |machine: &mut Machine, name: &str| match args.keyword(name) {
        Some(value) => machine.truth(value),
        None => Ok(false),
    };
    if args
        .positional
        .first()
        .is_some_and(|it| !matches!(it, Value::None))
    {
        return Err(machine.unsupported(
            "MemPool with an allocator of its own",
            "Make it as torch.cuda.MemPool(); use_on_oom= and no_split= are allowed.",
        ));
    }
    let options = PoolOptions {
        no_split: flag(machine, "no_split")?,
        use_on_oom: flag(machine, "use_on_oom")?,
        custom_allocator: false,
    };
    match machine.gpu.new_pool(options) {
        Ok(id) => {
            let gpu = Rc::clone(&machine.gpu);
            Ok(Value::Pool(machine.heap.track(Pool { gpu, id })))
        }
        Err(error) => Err(machine.raise("RuntimeError", error.to_string())),
    }
}

fn stream(machine: &mut Machine, args: &Args) -> Outcome {
    machine.expect("stream", args, 1..=1, &["stream"])?;
    let stream = match args.get(0, "stream") {
        Some(Value::Stream(stream)) => Some(Rc::clone(stream)),
        _ => None,
    };
    let context = Context::Stream(stream, Cell::new(Stream(0)));
    Ok(Value::Context(machine.heap.track(context)))
}

fn current_stream(machine: &mut Machine, _args: &Args) -> Outcome {
    let handle = machine.gpu.current();
    Ok(Value::Stream(Rc::new(StreamObject { handle })))
}

fn default_stream(_machine: &mut Machine, _args: &Args) -> Outcome {
    let handle = Stream(0);
    Ok(Value::Stream(Rc::new(StreamObject { handle })))
}

fn set_stream(machine: &mut Machine, args: &Args) -> Outcome {
    if let Some(Value::Stream(stream)) = args.positional.first() {
        machine.gpu.set_current(stream.handle);
    }
    Ok(Value::None)
}

pub(super) fn stream_method(name: &str) -> Option<MethodFn> {
    Some(match name {
        "synchronize" => |machine, receiver, _| {
            if let Value::Stream(stream) = receiver {
                machine.gpu.synchronize(Some(stream.handle));
            }
            Ok(Value::None)
        },
        // Waiting is work too: what comes after it waits as well.
        "wait_stream" => |machine, receiver, args| {
            if let (Value::Stream(own), Some(Value::Stream(other))) =
                (receiver, args.positional.first())
                && machine.gpu.is_busy(other.handle)
            {
                let current = machine.gpu.set_current(own.handle);
                machine.gpu.launch();
                machine.gpu.set_current(current);
            }
            Ok(Value::None)
        },
        "query" => |machine, receiver, _| {
            let busy = match receiver {
                Value::Stream(stream) => machine.gpu.is_busy(stream.handle),
                _ => false,
            };
            Ok(Value::Bool(!busy))
        },
        _ => return None,
    })
}

fn use_mem_pool(machine: &mut Machine, args: &Args) -> Outcome {
    machine.expect("use_mem_pool", args, 1..=2, &["pool", "device"])?;
    let Some(Value::Pool(pool)) = args.get(0, "pool") else {
        return Err(machine.type_error("use_mem_pool() needs a MemPool"));
    };
    let context = Context::Pool(Rc::clone(pool));
    Ok(Value::Context(machine.heap.track(context)))
}

pub(super) fn context_method(name: &str) -> Option<MethodFn> {
    match name {
        "__enter__" => Some(enter),
        "__exit__" => Some(exit),
        // As a decorator the context wraps each call, which changes nothing here.
        "__call__" => {
            Some(|_, _, args| Ok(args.positional.first().cloned().unwrap_or(Value::None)))
        }
        _ => None,
    }
}

fn enter(machine: &mut Machine, receiver: &Value, _args: &Args) -> Outcome {
    let Value::Context(context) = receiver else {
        return Ok(Value::None);
    };
    match &**context {
        Context::Stream(Some(stream), before) => {
            before.set(machine.gpu.set_current(stream.handle));
        }
        Context::Pool(pool) => {
            let id = pool.id;
            let entered = machine
                .gpu
                .with(|allocator, _| allocator.enter_pool(DEVICE, id));
            if let Some(Err(error)) = entered {
                return Err(machine.raise("RuntimeError", error.to_string()));
            }
        }
        Context::Stream(None, _) | Context::Nothing => {}
    }
    Ok(Value::None)
}

fn exit(machine: &mut Machine, receiver: &Value, _args: &Args) -> Outcome {
    let Value::Context(context) = receiver else {
        return Ok(Value::None);
    };
    match &**context {
        Context::Stream(Some(_), before) => {
            machine.gpu.set_current(before.get());
        }
        Context::Pool(pool) => {
            let id = pool.id;
            machine
                .gpu
                .with(|allocator, _| allocator.leave_pool(DEVICE, id));
        }
        Context::Stream(None, _) | Context::Nothing => {}
    }
    Ok(Value::Bool(false))
}

fn is_available(_machine: &mut Machine, _args: &Args) -> Outcome {
    Ok(Value::Bool(true))
}

fn device_count(_machine: &mut Machine, _args: &Args) -> Outcome {
    Ok(Value::Int(1))
}

fn current_device(_machine: &mut Machine, _args: &Args) -> Outcome {
    Ok(Value::Int(0))
}

fn nothing(_machine: &mut Machine, _args: &Args) -> Outcome {
    Ok(Value::None)
}

fn init(machine: &mut Machine, _args: &Args) -> Outcome {
    machine.start_cuda()?;
    Ok(Value::None)
}

fn is_initialized(machine: &mut Machine, _args: &Args) -> Outcome {
    Ok(Value::Bool(machine.gpu.is_started()))
}

fn properties(_machine: &mut Machine, _args: &Args) -> Outcome {
    Ok(Value::Properties)
}

fn device_name(_machine: &mut Machine, _args: &Args) -> Outcome {
    Ok(Value::text("simulated card"))
}

fn backend(_machine: &mut Machine, _args: &Args) -> Outcome {
    Ok(Value::text("native"))
}
