//! The recorded figures of public messages, and the text that PyTorch made of such figures.

use serde_json::Value;
use shared::analysis::oom::{Device, Field};

/// One line of `oom_messages.jsonl`.
#[derive(Debug)]
pub(crate) struct Record {
    pub(crate) n: String,
    pub(crate) form: String,
    pub(crate) device: Device,
    pub(crate) gpu: Option<u32>,
    pub(crate) case: Option<u8>,
    json: Value,
}

/// All of them.
pub(crate) fn records() -> Vec<Record> {
    include_str!("../../data/oom_messages.jsonl")
        .lines()
        .map(|line| Record::of(serde_json::from_str(line).unwrap()))
        .collect()
}

impl Record {
    fn of(json: Value) -> Self {
        let n = match &json["n"] {
            Value::String(n) => n.clone(),
            n => n.to_string(),
        };
        Self {
            n,
            form: json["form"].as_str().unwrap().to_owned(),
            device: serde_json::from_value(json["device"].clone()).unwrap(),
            gpu: json["gpu"].as_u64().map(|gpu| gpu as u32),
            case: json["case"].as_u64().map(|case| case as u8),
            json,
        }
    }

    /// The figure of this name, as printed.
    fn text(&self, name: &str) -> Option<&str> {
        self.json[name].as_str()
    }

    /// All figures, by the name that the parser gives them.
    pub(crate) fn figures(&self) -> impl Iterator<Item = (Field, Option<&str>)> {
        Field::ALL.into_iter().map(|field| {
            let name = serde_json::to_value(field).unwrap();
            (field, self.text(name.as_str().unwrap()))
        })
    }

    /// The listed processes.
    pub(crate) fn processes(&self) -> impl Iterator<Item = (u64, &str)> {
        let listed = self.json["other_processes"]
            .as_array()
            .into_iter()
            .flatten();
        listed.map(|entry| {
            let (pid, size) = entry.as_str().unwrap().split_once(": ").unwrap();
            (pid.parse().unwrap(), size)
        })
    }

    /// The flags in the words of the parser, sorted; none were noted for MPS.
    pub(crate) fn flag_words(&self) -> Option<Vec<&'static str>> {
        let flags = self.json["flags"].as_array()?;
        let mut words: Vec<_> = flags
            .iter()
            .map(|flag| match flag.as_str().unwrap() {
                "request>card" => "request>card",
                "free>=request" => "free>=request",
                "cached>=request" => "cached>=request",
                "free+cached>=request" => "free+cached>=request",
                "limit" => "limit",
                "allocated>total" => "allocated>total",
                "this>total" => "this>total",
                "other process holds the card" => "other_process",
                other if other.starts_with("unaccounted ") => "unaccounted",
                other if other.starts_with("outside allocator ") => "outside_allocator",
                other => panic!("{other}"),
            })
            .collect();
        words.sort_unstable();
        Some(words)
    }
}

/// Bytes of a printed size, nearest, by decimal arithmetic.
pub(crate) fn decimal_bytes(text: &str) -> i128 {
    let (number, unit) = text.split_once(' ').unwrap();
    let unit: i128 = match unit {
        "bytes" => 1,
        "KiB" | "KB" => 1 << 10,
        "MiB" | "MB" => 1 << 20,
        "GiB" | "GB" => 1 << 30,
        other => panic!("{other}"),
    };
    let (whole, decimals) = number.split_once('.').unwrap_or((number, "00"));
    assert_eq!(decimals.len(), 2);
    let hundredths: i128 = format!("{whole}{decimals}").parse().unwrap();
    (hundredths * unit + 50) / 100
}

const HINT: &str = " If reserved but unallocated memory is large try setting \
    PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.  See documentation \
    for Memory Management  (https://pytorch.org/docs/stable/notes/cuda.html#environment-variables)";

/// The message that PyTorch prints with these figures; cut where the figures end.
pub(crate) fn message(record: &Record) -> String {
    let device = record.json["device"].as_str().unwrap();
    match record.form.as_str() {
        "A" | "B" | "B+active" => in_brackets(record, device),
        "C" | "D" => in_sentences(record, device),
        "MPS" => format!(
            "MPS backend out of memory (MPS allocated: {}, other allocations: {}, max allowed: {}). \
             Tried to allocate {} on {} pool. Use PYTORCH_MPS_HIGH_WATERMARK_RATIO=0.0 to disable \
             upper limit for memory allocations (may cause system failure).",
            record.text("allocated").unwrap(),
            record.text("other").unwrap(),
            record.text("allowed").unwrap(),
            record.text("tried").unwrap(),
            record.text("pool").unwrap(),
        ),
        _ => format!("{device} out of memory. Tried to allocate more than 1EB memory."),
    }
}

/// To 2.0: figures in brackets, with semicolons.
fn in_brackets(record: &Record, device: &str) -> String {
    let word = if device == "NPU" { "NPU" } else { "GPU" };
    let mut figures = vec![format!("{word} {}", record.gpu.unwrap())];
    for (name, label) in [
        ("total", "total capacity"),
        ("allocated", "already allocated"),
        ("active", "current active"),
        ("free", "free"),
        ("cached", "cached"),
        ("allowed", "allowed"),
        ("reserved_total", "reserved in total by PyTorch"),
    ] {
        figures.extend(record.text(name).map(|size| format!("{size} {label}")));
    }
    let brackets = format!("({})", figures.join("; "));
    match record.text("tried") {
        Some(tried) => format!("{device} out of memory. Tried to allocate {tried} {brackets}"),
        None => brackets,
    }
}

/// From 2.1 on.
fn in_sentences(record: &Record, device: &str) -> String {
    let capacity = if record.form == "C" {
        "capacty"
    } else {
        "capacity"
    };
    let mut text = format!(
        "{device} out of memory. Tried to allocate {}. GPU {} has a total {capacity} of {} of which \
         {} is free. ",
        record.text("tried").unwrap(),
        record.gpu.unwrap(),
        record.text("total").unwrap(),
        record.text("free").unwrap(),
    );
    for (pid, size) in record.processes() {
        text += &format!("Process {pid} has {size} memory in use. ");
    }
    if let Some(size) = record.text("this_process") {
        text += &format!("Including non-PyTorch memory, this process has {size} memory in use. ");
    }
    if let Some(size) = record.text("allowed") {
        text += &format!("{size} allowed; ");
    }
    let Some(allocated) = record.text("allocated") else {
        return text;
    };
    text += &format!("Of the allocated memory {allocated} is allocated by PyTorch, ");
    if let Some(size) = record.text("private_pools") {
        text += &format!("with {size} allocated in private pools (e.g., CUDA Graphs), ");
    }
    let Some(unallocated) = record.text("reserved_unallocated") else {
        return text + "...";
    };
    text + &format!("and {unallocated} is reserved by PyTorch but unallocated.") + HINT
}

/// The message as it ends a traceback in the log of one rank.
pub(crate) fn in_traceback(message: &str, rank: usize) -> String {
    [
        "Traceback (most recent call last):",
        "  File \"train.py\", line 118, in <module>",
        "    loss.backward()  # runs out of memory on GPU 7",
        "  File \"site-packages/torch/autograd/graph.py\", line 824, in _engine_run_backward",
        &format!("torch.OutOfMemoryError: {message}"),
        "W1201 02:11:09.482000 140 torch/distributed/elastic: sending SIGTERM, 512 MiB shm",
    ]
    .map(|line| format!("[rank{rank}]: {line}\n"))
    .concat()
}
