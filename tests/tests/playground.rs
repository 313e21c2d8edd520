//! The playground against real PyTorch: each example script was run on a GPU by
//! `scripts/record_playground.py`, and every event and every printed line must be the same.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::Deserialize;
use shared::allocator::{CardSize, TraceEvent};
use shared::model::Action;
use shared::script::{
    Exhausted, Limits, Options, Playground, Position, ScriptError, ScriptErrorKind, Step,
};

#[derive(Deserialize)]
struct Recorded {
    total: u64,
    output: String,
    uncaught: Option<String>,
    /// Action, address, size, stream by order of appearance.
    events: Vec<(String, u64, u64, u64)>,
}

fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data/playground")
}

fn recordings() -> BTreeMap<String, Recorded> {
    let text = fs::read(folder().join("recorded.json")).expect("the recordings are there");
    serde_json::from_slice(&text).expect("the recordings are JSON")
}

fn options(capacity_bytes: u64) -> Options {
    Options {
        card: CardSize {
            capacity_bytes,
            others_bytes: 0,
        },
        ..Options::default()
    }
}

fn run(script: &str, options: &Options) -> (Playground, Step) {
    let mut playground = Playground::new(script, options).expect("the script is Python");
    let step = playground.run(u64::MAX);
    (playground, step)
}

/// Addresses become "n-th segment, offset", which does not depend on where the driver puts them.
#[derive(Default)]
struct Places {
    /// Begin and end of each segment or mapping, in order of appearance.
    ranges: Vec<(u64, u64)>,
}

impl Places {
    fn event(&mut self, action: &str, address: u64, size: u64, stream: u64) -> String {
        if matches!(action, "segment_alloc" | "segment_map") {
            // A driver gives the same address again: the newest segment counts.
            self.ranges.push((address, address + size));
        }
        let place = match action {
            "oom" => String::new(),
            _ => {
                let holds = |range: &&(u64, u64)| (range.0..range.1).contains(&address);
                let at = self.ranges.iter().rev().position(|range| holds(&range));
                let at = at.map(|at| self.ranges.len() - 1 - at);
                let start = at.map_or(0, |at| self.ranges[at].0);
                format!(" {at:?}+{}", address.wrapping_sub(start))
            }
        };
        format!("{action}{place} {size} @{stream}")
    }
}

fn ours(events: impl Iterator<Item = TraceEvent>) -> Vec<String> {
    let mut places = Places::default();
    let mut streams = vec![0];
    let one = |event: TraceEvent| {
        let known = streams.iter().position(|stream| *stream == event.stream.0);
        let stream = known.unwrap_or_else(|| {
            streams.push(event.stream.0);
            streams.len() - 1
        });
        let (action, address) = (event.action.name(), event.address);
        places.event(action, address, event.size_bytes, stream as u64)
    };
    events.map(one).collect()
}

fn theirs(events: &[(String, u64, u64, u64)]) -> Vec<String> {
    let mut places = Places::default();
    let one = |(action, address, size, stream): &(String, u64, u64, u64)| {
        places.event(action, *address, *size, *stream)
    };
    events.iter().map(one).collect()
}

/// What only the driver knows: how much is free, and who else is on the card.
fn masked(text: &str) -> String {
    let mut line = text.to_owned();
    if let (Some(from), Some(to)) = (line.find("of which "), line.find(" is free. ")) {
        line.replace_range(from + 9..to, "FREE");
    }
    let own = "Including non-PyTorch memory, this process has ";
    while let Some(from) = line.find("Process ").or_else(|| line.find(own)) {
        let end = "memory in use. ";
        let to = line[from..]
            .find(end)
            .map_or(line.len(), |at| from + at + end.len());
        line.replace_range(from..to, "");
    }
    line
}

#[test]
fn each_script_does_what_it_does_under_real_pytorch() {
    let recordings = recordings();
    assert!(recordings.len() >= 12, "{} recordings", recordings.len());
    let mut wrong = Vec::new();
    for (name, recorded) in &recordings {
        let path = folder().join(format!("{name}.py"));
        let script = fs::read_to_string(&path).expect("each recording has its script");
        let segments = recorded
            .events
            .iter()
            .filter(|event| event.0 == "segment_alloc");
        let options = Options {
            addresses: segments.map(|event| event.1).collect(),
            ..options(recorded.total)
        };
        let (playground, step) = run(&script, &options);
        assert_eq!(recorded.uncaught, None, "{name}");
        if step != Step::Ended {
            wrong.push(format!("{name}: {step:?}"));
        }
        let found = ours(playground.events(0).map(|placed| placed.event));
        let expected = theirs(&recorded.events);
        let first = found.iter().zip(&expected).position(|(a, b)| a != b);
        let first =
            first.or((found.len() != expected.len()).then(|| found.len().min(expected.len())));
        if let Some(at) = first {
            let shown = |events: &[String]| events.get(at).cloned().unwrap_or_default();
            let line = playground
                .events(at)
                .next()
                .map(|it| playground.calls(it.place));
            wrong.push(format!(
                "{name}: event {at} is {}, should be {} ({line:?})",
                shown(&found),
                shown(&expected)
            ));
        }
        let printed = playground.output().lines().map(masked);
        let lines: Vec<String> = printed.collect();
        let wanted: Vec<String> = recorded.output.lines().map(masked).collect();
        for (at, (a, b)) in lines.iter().zip(&wanted).enumerate() {
            if a != b {
                wrong.push(format!("{name}: printed line {at}\n  {a}\n  {b}"));
            }
        }
        if lines.len() != wanted.len() {
            wrong.push(format!(
                "{name}: {} lines, should be {}",
                lines.len(),
                wanted.len()
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn fails(script: &str) -> ScriptError {
    let options = Options {
        limits: Limits {
            steps: 200_000,
            events: 2_000,
            ..Limits::default()
        },
        ..options(1 << 34)
    };
    match Playground::new(script, &options) {
        Err(error) => error,
        Ok(mut playground) => match playground.run(u64::MAX) {
            Step::Failed(error) => error,
            step => panic!("{script:?} came to {step:?}"),
        },
    }
}

#[test]
fn what_is_outside_says_where_and_what_to_use() {
    for (script, line, column, what, instead) in [
        (
            "import torch\nx = torch.ones(2)\ny = x @ x\n",
            3,
            5,
            "matrix product",
            "elementwise",
        ),
        (
            "import torch\nx = torch.ones(2)\nprint(x.sum())\n",
            3,
            7,
            "Tensor.sum",
            "Reductions",
        ),
        (
            "import torch\nprint(torch.ones(2))\n",
            2,
            1,
            "Printing a tensor",
            "shape",
        ),
        (
            "import numpy\n",
            1,
            8,
            "the module numpy",
            "torch, torch.cuda, os",
        ),
        (
            "import torch\nx = torch.ones(2, requires_grad=True)\n",
            2,
            5,
            "requires_grad",
            "gradients",
        ),
        ("async def f():\n    pass\n", 1, 1, "async def", "def"),
        (
            "import torch.nn as nn\n",
            1,
            8,
            "the module torch.nn",
            "recording",
        ),
    ] {
        let error = fails(script);
        let ScriptErrorKind::Unsupported {
            what: found,
            instead: hint,
        } = &error.kind
        else {
            panic!("{script:?}: {error}");
        };
        assert!(found.contains(what), "{script:?}: {found}");
        assert!(hint.contains(instead), "{script:?}: {hint}");
        let Position {
            line: at_line,
            column: at_column,
            ..
        } = error.position;
        assert_eq!((at_line, at_column), (line, column), "{script:?}");
    }
}

#[test]
fn endless_scripts_reach_a_limit() {
    let limit = |script: &str| match fails(script).kind {
        ScriptErrorKind::Limit { exhausted, .. } => exhausted,
        other => panic!("{script:?}: {other:?}"),
    };
    assert_eq!(limit("while True: pass\n"), Exhausted::Steps);
    assert_eq!(limit("x = [0] * 10**9\n"), Exhausted::ValueSize);
    assert_eq!(limit("x = 10 ** 10 ** 9\n"), Exhausted::ValueSize);
    assert_eq!(
        limit("sum(1 for _ in iter(range(10**12)))\n"),
        Exhausted::Steps
    );
    let many = "import torch\nfor i in range(10**6): torch.empty(1, device='cuda')\n";
    assert_eq!(limit(many), Exhausted::Events);
    assert_eq!(
        limit(&format!("x = {}1{}\n", "(".repeat(5000), ")".repeat(5000))),
        Exhausted::Source
    );
    let ScriptErrorKind::Uncaught { class, .. } = fails("def f(): f()\nf()\n").kind else {
        panic!("recursion ends in an exception");
    };
    assert_eq!(class, "RecursionError");
}

#[test]
fn stepping_goes_line_by_line_with_the_events_of_each() {
    let script =
        "import torch\nx = torch.empty(10, device='cuda')\ndel x\ntorch.cuda.empty_cache()\n";
    let mut playground = Playground::new(script, &options(1 << 34)).expect("it is Python");
    let mut steps = Vec::new();
    loop {
        let step = playground.step_line();
        steps.push((step.clone(), playground.event_count()));
        if step == Step::Ended {
            break;
        }
    }
    let expected = [
        (Step::AtLine(1), 0),
        (Step::AtLine(2), 0),
        (Step::AtLine(3), 2),
        (Step::AtLine(4), 4),
        (Step::Ended, 5),
    ];
    assert_eq!(steps, expected);
    let recording = playground.recording();
    let events = &recording.devices[0].events;
    assert_eq!(events.len(), 5);
    let actions = playground.events(0).map(|placed| placed.event.action);
    assert!(actions.eq([
        Action::SegmentAlloc,
        Action::Alloc,
        Action::FreeRequested,
        Action::FreeCompleted,
        Action::SegmentFree,
    ]));
}
