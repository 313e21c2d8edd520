//! `vramscope simulate`: a list of operations, run by the allocator's own rules.

use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};
use clap::{Args, error::ErrorKind};
use serde::Serialize;
use shared::{
    allocator::{
        Allocator, Detail, Driver, Recorded, SimulatedCard, Statistics, TraceEvent,
        operations::{OperationList, Outcome, Program, Synchronize},
    },
    ids::DeviceIndex,
    model::Action,
    recorded::trace_events,
    settings::Settings,
    units::{GIB, parse_size},
};

use crate::input;

/// The size of the card where nothing says it.
const DEFAULT_CAPACITY: u64 = 80 * GIB;

const DEVICE: DeviceIndex = DeviceIndex(0);

/// Run a list of operations by the allocator's own rules, without any card
///
/// An allocation that fails is no error: the list goes on without its block. Without any of
/// --events, --stats and --summary, the summary goes to standard output.
#[derive(Debug, Args)]
pub(crate) struct SimulateArguments {
    /// The operations: a JSON list such as [["a", 1, 1048576, 0], ["f", 1], ["e"]], bare or as
    /// "ops" beside "meta"
    #[arg(value_name = "OPS.json")]
    operations: PathBuf,

    /// Settings in the words of PYTORCH_CUDA_ALLOC_CONF, instead of those in the file
    #[arg(long, value_name = "TEXT", value_parser = Settings::parse)]
    conf: Option<Settings>,

    /// Size of the card; otherwise what the file says, or 80GiB
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    capacity: Option<u64>,

    /// Take addresses and the order of completed streams from this recording of the same
    /// operations
    #[arg(long, value_name = "FILE")]
    recording: Option<PathBuf>,

    /// Write the events here, one JSON object a line; - is standard output
    #[arg(long, value_name = "FILE|-")]
    events: Option<PathBuf>,

    /// Write the figures of memory_stats() here, as one JSON object
    #[arg(long, value_name = "FILE|-")]
    stats: Option<PathBuf>,

    /// Write the text of memory_summary() here
    #[arg(long, value_name = "FILE|-")]
    summary: Option<PathBuf>,
}

/// Runs the operations and writes what was asked for.
pub(crate) fn run(arguments: &SimulateArguments) -> Result<()> {
    refuse_shared_output(arguments);
    let path = &arguments.operations;
    let text = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let list: OperationList = serde_json::from_slice(&text)
        .with_context(|| format!("{} is no list of operations", path.display()))?;
    let settings = match &arguments.conf {
        Some(settings) => settings.clone(),
        None => Settings::parse(&list.meta.conf)
            .with_context(|| format!("the settings in {}", path.display()))?,
    };
    let capacity = arguments.capacity.or(list.meta.total);
    let capacity = capacity.unwrap_or(DEFAULT_CAPACITY);
    let simulated = match &arguments.recording {
        None => simulate(settings, SimulatedCard::with_capacity(capacity), &list),
        Some(recording) => {
            let events = recorded_events(recording)?;
            simulate(settings, Recorded::new(vec![(capacity, events)]), &list)
        }
    };
    let simulated = simulated.with_context(|| path.display().to_string())?;
    write_all(arguments, &simulated)
}

/// Two texts on one stream could not be told apart.
fn refuse_shared_output(arguments: &SimulateArguments) {
    let outputs = [&arguments.events, &arguments.stats, &arguments.summary];
    let on_stdout = outputs.into_iter().flatten().filter(|path| is_stdout(path));
    if on_stdout.count() > 1 {
        let message = "only one of --events, --stats and --summary can be -\n";
        clap::Error::raw(ErrorKind::ArgumentConflict, message).exit();
    }
}

fn recorded_events(path: &Path) -> Result<Vec<TraceEvent>> {
    let recording = input::read(path)?;
    let Some(record) = recording.device(DEVICE) else {
        bail!("{} has no record of device 0", path.display());
    };
    Ok(trace_events(&recording, record))
}

struct Simulated {
    events: Vec<TraceEvent>,
    statistics: Statistics,
}

fn simulate<D: Driver + Synchronize>(
    settings: Settings,
    driver: D,
    list: &OperationList,
) -> Result<Simulated> {
    let allocator = Allocator::new(settings, driver, 1);
    let mut program = Program::new(allocator, list.meta.clone());
    let mut events = Vec::new();
    for (index, operation) in list.ops.iter().enumerate() {
        let outcome = program
            .run(operation, &mut events)
            .with_context(|| format!("operation {index}"))?;
        if let Outcome::SettingsRefused(error) = outcome {
            return Err(error).with_context(|| format!("operation {index}"));
        }
    }
    let statistics = program.allocator.statistics(DEVICE);
    Ok(Simulated {
        events,
        statistics: statistics.copied().unwrap_or_default(),
    })
}

fn write_all(arguments: &SimulateArguments, simulated: &Simulated) -> Result<()> {
    let stdout = PathBuf::from("-");
    let nothing_asked =
        arguments.events.is_none() && arguments.stats.is_none() && arguments.summary.is_none();
    let summary = arguments.summary.as_ref();
    let summary = summary.or(nothing_asked.then_some(&stdout));
    if let Some(path) = &arguments.events {
        write(path, &event_lines(&simulated.events)?)?;
    }
    if let Some(path) = &arguments.stats {
        let entries = simulated.statistics.entries().into_iter();
        let object: serde_json::Map<_, _> =
            entries.map(|(key, value)| (key, value.into())).collect();
        let mut text = serde_json::to_vec_pretty(&object)?;
        text.push(b'\n');
        write(path, &text)?;
    }
    if let Some(path) = summary {
        let text = simulated.statistics.summary(DEVICE, Detail::Pools);
        write(path, text.as_bytes())?;
    }
    Ok(())
}

/// Events as lines of JSON.
pub(super) fn event_lines(events: &[TraceEvent]) -> Result<Vec<u8>> {
    let mut lines = Vec::new();
    for event in events {
        serde_json::to_writer(&mut lines, &EventLine::of(event))?;
        lines.push(b'\n');
    }
    Ok(lines)
}

/// An event in the words of PyTorch's snapshots.
#[derive(Serialize)]
struct EventLine {
    action: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    addr: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    device_free: Option<u64>,
    size: u64,
    stream: u64,
}

impl EventLine {
    fn of(event: &TraceEvent) -> Self {
        let failed = event.action == Action::Oom;
        Self {
            action: event.action.name(),
            addr: (!failed).then_some(event.address),
            device_free: failed.then_some(event.address),
            size: event.size_bytes,
            stream: event.stream.0,
        }
    }
}

pub(super) fn is_stdout(path: &Path) -> bool {
    path.as_os_str() == "-"
}

pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    if is_stdout(path) {
        let mut stdout = io::stdout().lock();
        let written = stdout.write_all(bytes).and_then(|()| stdout.flush());
        return match written {
            // Whoever reads has seen enough.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            other => other.context("cannot write to standard output"),
        };
    }
    fs::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))
}
