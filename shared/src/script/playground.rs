//! The door: a script that is run line by line.

use std::rc::Rc;

use super::error::ScriptError;
use super::limits::Limits;
use super::lower::lower;
use super::machine::{Machine, Progress};
use super::source::Source;
use super::torch::Gpu;
use super::value::Value;
use crate::allocator::{CardSize, SegmentReport, Statistics, TraceEvent};
use crate::ids::DeviceIndex;
use crate::units::GIB;

/// What a script runs under.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// `PYTORCH_CUDA_ALLOC_CONF` of the environment; the script may set another.
    pub settings: String,
    /// The card.
    pub card: CardSize,
    /// Addresses of the first segments, in their order, to be compared with a recording: where
    /// memory lies is the driver's choice. Empty for addresses as a driver is likely to choose.
    pub addresses: Vec<u64>,
    /// What the script may use up.
    pub limits: Limits,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            settings: String::new(),
            card: CardSize {
                capacity_bytes: 24 * GIB,
                others_bytes: 0,
            },
            addresses: Vec::new(),
            limits: Limits::default(),
        }
    }
}

/// How far a script has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// That line is about to be executed.
    AtLine(u32),
    /// It has more to do than it was given time for.
    Going,
    /// It has ended.
    Ended,
    /// It has stopped with an error, which stays.
    Failed(ScriptError),
}

/// A function and the line at which it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Name of the function; `<module>` for the script itself.
    pub function: String,
    /// Line, from 1.
    pub line: u32,
}

/// An event with the place in the script that caused it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    /// What the allocator did.
    pub event: TraceEvent,
    /// Index for [`Playground::calls`].
    pub place: u32,
}

/// A script that is being run.
///
/// ```
/// use shared::script::{Options, Playground, Step};
///
/// let script = "import torch\nx = torch.empty(1000, device='cuda')\nprint(x.shape)\n";
/// let mut playground = Playground::new(script, &Options::default()).unwrap();
/// assert_eq!(playground.run(u64::MAX), Step::Ended);
/// assert_eq!(playground.output(), "torch.Size([1000])\n");
/// assert_eq!(playground.events(0).count(), 2);
/// ```
#[derive(Debug)]
pub struct Playground {
    pub(super) machine: Machine,
    settings: String,
    end: Option<Step>,
}

impl Playground {
    /// Reads a script; nothing is executed yet.
    ///
    /// # Errors
    /// When it is not Python, or uses syntax outside of the playground.
    pub fn new(script: &str, options: &Options) -> Result<Self, ScriptError> {
        let source = Rc::new(Source::new(script, &options.limits)?);
        let code = lower(&source, &options.limits)?;
        let gpu = Rc::new(Gpu::new(options.card, options.addresses.clone()));
        let mut machine = Machine::new(source, code, gpu, options.limits);
        if !options.settings.is_empty() {
            let settings = Value::text(&options.settings);
            machine
                .environ
                .insert(Rc::from("PYTORCH_CUDA_ALLOC_CONF"), settings);
        }
        Ok(Self {
            machine,
            settings: options.settings.clone(),
            end: None,
        })
    }

    /// Executes the line at which the script is, up to the next one, in whichever function.
    pub fn step_line(&mut self) -> Step {
        self.advance(u64::MAX, true)
    }

    /// Executes up to `instructions` instructions; a line takes about ten.
    pub fn run(&mut self, instructions: u64) -> Step {
        self.advance(instructions, false)
    }

    fn advance(&mut self, budget: u64, to_line: bool) -> Step {
        if let Some(end) = &self.end {
            return end.clone();
        }
        let step = match self.machine.advance(budget, to_line) {
            Ok(Progress::AtLine) => return Step::AtLine(self.machine.line().unwrap_or(1)),
            Ok(Progress::Going) => return Step::Going,
            Ok(Progress::Ended) => Step::Ended,
            Err(error) => Step::Failed(error),
        };
        self.end = Some(step.clone());
        step
    }

    /// The line at which the script is.
    #[must_use]
    pub fn line(&self) -> Option<u32> {
        self.machine.line()
    }

    /// What the script has printed so far.
    #[must_use]
    pub fn output(&self) -> &str {
        &self.machine.output
    }

    /// How many events there are so far.
    #[must_use]
    pub fn event_count(&self) -> usize {
        self.machine.event_places.len()
    }

    /// The events from the `first` on.
    pub fn events(&self, first: usize) -> impl Iterator<Item = Placed> + '_ {
        let events: Vec<TraceEvent> = {
            let events = self.machine.gpu.events();
            events.get(first..).unwrap_or_default().to_vec()
        };
        let places = self.machine.event_places.get(first..).unwrap_or_default();
        let placed = events.into_iter().zip(places);
        placed.map(|(event, place)| Placed {
            event,
            place: *place,
        })
    }

    /// The calls at a place, outermost first.
    #[must_use]
    pub fn calls(&self, place: u32) -> Vec<Call> {
        let calls = self.machine.places.get_index(place as usize);
        let calls = calls.into_iter().flatten();
        let call = |(function, line): &(Rc<str>, u32)| Call {
            function: function.to_string(),
            line: *line,
        };
        calls.map(call).collect()
    }

    /// The segments as a snapshot reports them now.
    #[must_use]
    pub fn segments(&self) -> Vec<SegmentReport> {
        let gpu = &self.machine.gpu;
        gpu.with(|allocator, _| allocator.snapshot())
            .unwrap_or_default()
    }

    /// The statistics of the card now.
    #[must_use]
    pub fn statistics(&self) -> Statistics {
        let gpu = &self.machine.gpu;
        let read = gpu.with(|allocator, _| allocator.statistics(DeviceIndex(0)).copied());
        read.flatten().unwrap_or_default()
    }

    /// The settings in force; those of the options before the first use of CUDA.
    #[must_use]
    pub fn settings(&self) -> String {
        let gpu = &self.machine.gpu;
        let read = gpu.with(|allocator, _| allocator.settings().text.clone());
        read.unwrap_or_else(|| self.settings.clone())
    }

    /// Bytes of the card.
    #[must_use]
    pub fn capacity_bytes(&self) -> u64 {
        self.machine.gpu.capacity()
    }
}
