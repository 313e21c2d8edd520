//! Nanoseconds an operation, on the recorded lists: the allocator without and with reasons, the
//! naive model, and a plain `BTreeMap` that inserts and removes as often. Warm: the memory that a
//! list needs is cached when the measured runs begin.

use std::{collections::BTreeMap, hint::black_box, time::Instant};

use shared::{
    allocator::{
        Allocator, BlockId, Decision, Request, SimulatedCard, Sink, Stream, TraceEvent,
        operations::{Operation, OperationList},
    },
    ids::DeviceIndex,
    settings::Settings,
};
use tests::{lists, naive::Naive};

const CARD_BYTES: u64 = 150_109_880_320;
const DEVICE: DeviceIndex = DeviceIndex(0);
/// Each list is run this often; the median counts.
const RUNS: usize = 41;

/// An operation with its block as a position in a table, and its stream as a handle.
#[derive(Clone, Copy)]
enum Op {
    Malloc {
        slot: usize,
        bytes: u64,
        stream: u64,
    },
    Free {
        slot: usize,
    },
    Record {
        slot: usize,
        stream: u64,
    },
    EmptyCache,
    Synchronize,
}

struct List {
    name: String,
    ops: Vec<Op>,
    slots: usize,
    /// Blocks that live at its end and are freed within the time.
    left: usize,
}

impl List {
    fn count(&self) -> usize {
        self.ops.len() + self.left
    }
}

fn main() {
    println!(
        "{:<16} {:>7} {:>9} {:>9} {:>9} {:>9} {:>9}",
        "ns/operation", "ops", "allocator", "+events", "+reasons", "naive", "BTreeMap"
    );
    let mut columns = vec![Vec::new(); 5];
    for list in recorded_lists() {
        let row = [
            allocator(&list, || ()),
            allocator(&list, Vec::<TraceEvent>::new),
            allocator(&list, Decision::default),
            naive(&list),
            tree(&list),
        ];
        print!("{:<16} {:>7}", list.name, list.count());
        for (column, ns) in columns.iter_mut().zip(row) {
            column.push(ns);
            print!(" {ns:>9.1}");
        }
        println!();
    }
    print!("{:<16} {:>7}", "median", "");
    for column in &mut columns {
        print!(" {:>9.1}", median(column));
    }
    println!();
}

/// The lists recorded under default settings that need nothing but a card.
fn recorded_lists() -> Vec<List> {
    let names = lists::names().into_iter();
    let lists = names.filter_map(|name| {
        let case = name.strip_suffix(".default")?;
        let list: OperationList =
            serde_json::from_slice(&lists::operations(&name)).expect("a list");
        let mut slots = BTreeMap::new();
        let ops = list.ops.iter().map(|op| resolved(op, &list, &mut slots));
        let ops = ops.collect::<Option<Vec<_>>>()?;
        Some(List {
            name: case.to_owned(),
            slots: slots.len(),
            left: left(&ops),
            ops,
        })
    });
    lists.collect()
}

fn left(ops: &[Op]) -> usize {
    let count = |of: fn(&Op) -> bool| ops.iter().filter(|op| of(op)).count();
    count(|op| matches!(op, Op::Malloc { .. })) - count(|op| matches!(op, Op::Free { .. }))
}

/// The operation with slots for ids; none for operations that change limits, pools or settings.
fn resolved(op: &Operation, list: &OperationList, slots: &mut BTreeMap<u64, usize>) -> Option<Op> {
    let handle = |stream: u32| list.meta.stream(stream).0;
    let next = slots.len();
    let mut slot = |id: u64| *slots.entry(id).or_insert(next);
    Some(match op {
        Operation::Allocate { id, bytes, stream } => Op::Malloc {
            slot: slot(*id),
            bytes: *bytes,
            stream: handle(*stream),
        },
        Operation::Free { id } => Op::Free { slot: slot(*id) },
        Operation::RecordStream { id, stream } => Op::Record {
            slot: slot(*id),
            stream: handle(*stream),
        },
        Operation::EmptyCache => Op::EmptyCache,
        Operation::Synchronize => Op::Synchronize,
        _ => return None,
    })
}

fn allocator<S: Sink>(list: &List, sink: impl Fn() -> S) -> f64 {
    let card = SimulatedCard::with_capacity(CARD_BYTES);
    let mut allocator = Allocator::new(Settings::default(), card, 1);
    let mut blocks: Vec<Option<BlockId>> = vec![None; list.slots];
    measure(list, || {
        let mut sink = sink();
        for op in &list.ops {
            match *op {
                Op::Malloc {
                    slot,
                    bytes,
                    stream,
                } => {
                    let request = Request {
                        device: DEVICE,
                        bytes,
                        stream: Stream(stream),
                    };
                    blocks[slot] = allocator.malloc(request, &mut sink).ok();
                }
                Op::Free { slot } => {
                    if let Some(block) = blocks[slot].take() {
                        allocator.free(block, &mut sink).expect("allocated");
                    }
                }
                Op::Record { slot, stream } => {
                    if let Some(block) = blocks[slot] {
                        allocator.record_stream(block, Stream(stream));
                    }
                }
                Op::EmptyCache => allocator.empty_cache(&mut sink),
                Op::Synchronize => allocator.driver_mut().complete(DEVICE, None),
            }
        }
        for block in blocks.iter_mut().filter_map(Option::take) {
            allocator.free(block, &mut ()).expect("allocated");
        }
        black_box(&mut sink);
    })
}

fn naive(list: &List) -> f64 {
    let mut naive = Naive::new(Settings::default(), CARD_BYTES);
    let mut blocks: Vec<Option<u64>> = vec![None; list.slots];
    measure(list, || {
        for op in &list.ops {
            match *op {
                Op::Malloc {
                    slot,
                    bytes,
                    stream,
                } => blocks[slot] = naive.malloc(bytes, stream),
                Op::Free { slot } => {
                    if let Some(block) = blocks[slot].take() {
                        naive.free(block);
                    }
                }
                Op::Record { slot, stream } => {
                    if let Some(block) = blocks[slot] {
                        naive.record(block, stream);
                    }
                }
                Op::EmptyCache => naive.flush(),
                Op::Synchronize => (0..4).for_each(|stream| naive.stream_done(stream)),
            }
        }
        for block in blocks.iter_mut().filter_map(Option::take) {
            naive.free(block);
        }
        naive.events.clear();
    })
}

/// One ordered map that inserts at each allocation and removes at each free.
fn tree(list: &List) -> f64 {
    let mut sizes = vec![0; list.slots];
    measure(list, || {
        let mut tree = BTreeMap::new();
        for op in &list.ops {
            match *op {
                Op::Malloc { slot, bytes, .. } => {
                    sizes[slot] = bytes;
                    tree.insert((bytes, slot), slot);
                }
                Op::Free { slot } => {
                    tree.remove(&(sizes[slot], slot));
                }
                _ => {}
            }
        }
        black_box(&mut tree);
    })
}

/// Median nanoseconds an operation.
fn measure(list: &List, mut run: impl FnMut()) -> f64 {
    run();
    let mut times: Vec<f64> = (0..RUNS)
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed().as_nanos() as f64 / list.count() as f64
        })
        .collect();
    median(&mut times)
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
