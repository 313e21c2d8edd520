//! Finding the messages in a text and taking them apart.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::advice::{self, AdviceLists};
use super::card::{self, Card};
use super::figure::Figure;
use super::flag::{self, Flag};
use super::label::{Field, Label, label};
use super::verdict::{self, Verdict};
use super::words::{Recent, Words, rank_before};

/// The figures of one message stand together; a figure further than this from the one before
/// belongs to another text.
const MAX_WORDS_BETWEEN: u32 = 40;

/// The card is named directly behind the size asked for; logs name cards elsewhere, too.
const MAX_WORDS_TO_GPU: u32 = 4;

/// One out-of-memory message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// The line of the text on which it begins, from 1.
    pub line: u64,
    /// The rank that launchers print before the line.
    pub rank: Option<u32>,
    /// How often the same message stands in the text: logs repeat it.
    pub times: u32,
    /// The kind of card.
    pub device: Device,
    /// Index of the card.
    pub gpu: Option<u32>,
    /// Which PyTorch wrote it.
    pub form: Form,
    /// The figures found.
    pub figures: Figures,
    /// "Tried to allocate more than 1EB memory": no size is printed.
    pub above_exabyte: bool,
    /// Which of the four cases it is.
    pub verdict: Verdict,
    /// What else the figures show.
    pub flags: Vec<Flag>,
    /// What helps and what does not.
    pub advice: AdviceLists,
    /// The card drawn from the figures, where its size is known.
    pub card: Option<Card>,
}

/// The kind of card, by the word before "out of memory".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Device {
    /// NVIDIA; also where the word is cut off.
    Cuda,
    /// AMD.
    Hip,
    /// Intel.
    Xpu,
    /// Ascend.
    Npu,
    /// Apple.
    Mps,
}

/// The form of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Form {
    /// To PyTorch 1.3: "cached".
    A,
    /// 1.4 to 2.0: "reserved in total".
    B,
    /// 2.1 to 2.3: "capacty".
    C,
    /// From 2.4 on.
    D,
    /// Apple's.
    #[serde(rename = "MPS")]
    Mps,
    /// Cut too short to tell, or without figures.
    #[serde(rename = "other")]
    Other,
}

/// What another process has in use on the card.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    /// Its process id, as the driver names it.
    pub pid: u64,
    /// Its memory.
    pub in_use: Figure,
}

/// The figures of a message.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Figures {
    /// Those that have a name.
    pub named: BTreeMap<Field, Figure>,
    /// The processes listed by number.
    pub processes: Vec<Process>,
}

impl Figures {
    /// The figure, where the message has it.
    #[must_use]
    pub fn get(&self, field: Field) -> Option<Figure> {
        self.named.get(&field).copied()
    }

    /// Held and not allocated: what form C and D print as unallocated, A as cached, and B as the
    /// difference of two figures.
    #[must_use]
    pub fn gap(&self) -> Option<Figure> {
        self.get(Field::ReservedUnallocated)
            .or_else(|| self.get(Field::Cached))
            .or_else(|| {
                let reserved = self.get(Field::ReservedTotal)?;
                Some(reserved.minus(self.get(Field::Allocated)?))
            })
    }

    /// Held from the driver in total.
    #[must_use]
    pub fn reserved(&self) -> Option<Figure> {
        self.get(Field::ReservedTotal)
            .or_else(|| Some(self.get(Field::Allocated)?.plus(self.gap()?)))
    }

    /// The listed process that is the failing one itself: in a container it does not know its own
    /// number, so "this process" is missing, and its figure is the one just above what it reserved.
    #[must_use]
    pub fn own_process(&self) -> Option<Process> {
        if self.named.contains_key(&Field::ThisProcess) {
            return None;
        }
        let held = self.reserved().or_else(|| self.get(Field::Allocated))?;
        self.processes
            .iter()
            .filter(|process| held.exceeds(process.in_use) != Some(true))
            .min_by_key(|process| process.in_use)
            .copied()
    }

    /// All that the failing process has on the card, where that is known and possible.
    #[must_use]
    pub fn this_process(&self) -> Option<Figure> {
        let figure = self
            .get(Field::ThisProcess)
            .or_else(|| self.own_process().map(|process| process.in_use))?;
        let impossible = self
            .get(Field::Total)
            .is_some_and(|total| figure.exceeds(total) == Some(true));
        (!impossible).then_some(figure)
    }

    /// The listed processes without the failing one itself.
    pub fn other_processes(&self) -> impl Iterator<Item = Process> {
        let own = self.own_process().map(|process| process.pid);
        self.processes
            .iter()
            .copied()
            .filter(move |process| Some(process.pid) != own)
    }
}

/// All messages of the text.
pub(super) fn find(text: &str) -> Vec<Message> {
    let mut drafts = Drafts::default();
    let mut words = Words::of(text);
    let mut recent = Recent::default();
    while let Some(word) = words.next() {
        drafts.step(word.len(), &words);
        let first = word.as_bytes().first().copied().unwrap_or(0);
        if first.is_ascii_digit() {
            if let Some(figure) = Figure::read(word, &mut words)
                && let Some(label) = label(&recent, &words)
            {
                drafts.figure(label, figure, recent.back(1));
            }
        } else if matches!(first, b'o' | b'O') && word.eq_ignore_ascii_case("out") {
            if words.starts_with(&["of", "memory"])
                && let Some(device) = device_before(&recent)
            {
                drafts.anchor(device);
            }
        } else if matches!(word, "GPU" | "NPU" | "XPU") {
            if let Some(gpu) = words.clone().next().and_then(|word| word.parse().ok()) {
                drafts.gpu(gpu, word);
            }
        } else if word == "more" && words.starts_with(&["than", "1EB"]) {
            drafts.above_exabyte();
        }
        recent.push(word);
    }
    drafts.finish();
    messages(drafts.done, text)
}

/// The device that "out of memory" is said of. Colours of a terminal may stick to the word.
fn device_before(recent: &Recent<'_>) -> Option<Device> {
    let word = match recent.back(0) {
        "backend" | "error" => recent.back(1),
        word => word,
    };
    [
        ("CUDA", Device::Cuda),
        ("HIP", Device::Hip),
        ("XPU", Device::Xpu),
        ("NPU", Device::Npu),
        ("MPS", Device::Mps),
    ]
    .into_iter()
    .find(|(name, _)| word.ends_with(name))
    .map(|(_, device)| device)
}

/// A message while its figures are gathered.
#[derive(Debug, Default)]
struct Draft {
    start: usize,
    anchored: bool,
    device: Option<Device>,
    gpu: Option<u32>,
    figures: Figures,
    misspelled: bool,
    above_exabyte: bool,
}

impl Draft {
    fn is_empty(&self) -> bool {
        self.figures == Figures::default() && !self.above_exabyte
    }

    /// Single sizes stand in every log: without "out of memory" it takes two figures, one of them
    /// in words that only this message has.
    fn is_message(&self) -> bool {
        let named = &self.figures.named;
        self.anchored
            || (named.len() >= 2
                && [
                    Field::Tried,
                    Field::Total,
                    Field::ReservedTotal,
                    Field::ReservedUnallocated,
                ]
                .iter()
                .any(|field| named.contains_key(field)))
    }
}

#[derive(Debug, Default)]
struct Drafts {
    done: Vec<Draft>,
    open: Option<Draft>,
    words_since: u32,
    at: usize,
}

impl Drafts {
    /// The next word: too far from the last figure, the message is over.
    fn step(&mut self, length: usize, words: &Words<'_>) {
        self.at = words.offset().saturating_sub(length);
        self.words_since += 1;
        if self.words_since > MAX_WORDS_BETWEEN {
            self.finish();
        }
    }

    fn open(&mut self) -> &mut Draft {
        self.words_since = 0;
        let start = self.at;
        self.open.get_or_insert_with(|| Draft {
            start,
            ..Draft::default()
        })
    }

    fn anchor(&mut self, device: Device) {
        self.finish();
        let draft = self.open();
        draft.anchored = true;
        draft.device = Some(device);
    }

    fn gpu(&mut self, gpu: u32, word: &str) {
        let known = self.open.as_ref().is_some_and(|draft| draft.gpu.is_some());
        if known || self.words_since > MAX_WORDS_TO_GPU {
            self.finish();
        }
        let draft = self.open();
        draft.gpu = Some(gpu);
        draft.device = draft.device.or(match word {
            "NPU" => Some(Device::Npu),
            "XPU" => Some(Device::Xpu),
            _ => None,
        });
    }

    fn above_exabyte(&mut self) {
        self.open().above_exabyte = true;
    }

    fn figure(&mut self, label: Label, figure: Figure, before: &str) {
        let repeated = match (label, &self.open) {
            (Label::Field(field), Some(draft)) => draft.figures.named.contains_key(&field),
            _ => false,
        };
        if repeated {
            self.finish();
        }
        let draft = self.open();
        match label {
            Label::Field(field) => {
                draft.misspelled |= field == Field::Total && before == "capacty";
                draft.figures.named.insert(field, figure);
            }
            Label::Process(pid) => draft.figures.processes.push(Process {
                pid,
                in_use: figure,
            }),
        }
    }

    fn finish(&mut self) {
        self.words_since = 0;
        if let Some(draft) = self.open.take()
            && draft.is_message()
        {
            self.done.push(draft);
        }
    }
}

/// The drafts as messages: explained, repetitions counted. Mentions without a figure count only
/// where nothing else was found, since tracebacks name the error again and again.
fn messages(mut drafts: Vec<Draft>, text: &str) -> Vec<Message> {
    if drafts.iter().any(|draft| !draft.is_empty()) {
        drafts.retain(|draft| !draft.is_empty());
    }
    let mut messages: Vec<Message> = Vec::new();
    let (mut line, mut counted_to) = (1, 0);
    for draft in drafts {
        let passed = text.get(counted_to..draft.start).unwrap_or("");
        line += passed.bytes().filter(|&byte| byte == b'\n').count() as u64;
        counted_to = draft.start;
        let rank = rank_before(text, draft.start);
        let device = draft.device.unwrap_or(Device::Cuda);
        let again = messages.iter_mut().find(|message| {
            (message.rank, message.gpu, message.device) == (rank, draft.gpu, device)
                && message.figures == draft.figures
                && message.above_exabyte == draft.above_exabyte
        });
        match again {
            Some(message) => message.times += 1,
            None => messages.push(message(draft, line, rank, device)),
        }
    }
    messages
}

fn message(draft: Draft, line: u64, rank: Option<u32>, device: Device) -> Message {
    let form = form(&draft, device);
    let verdict = verdict::verdict(&draft.figures, form, device, draft.above_exabyte);
    let flags = flag::flags(&draft.figures);
    let advice = advice::advice(&draft.figures, form, &verdict, &flags);
    Message {
        line,
        rank,
        times: 1,
        device,
        gpu: draft.gpu,
        form,
        above_exabyte: draft.above_exabyte,
        card: card::card(&draft.figures, device),
        verdict,
        flags,
        advice,
        figures: draft.figures,
    }
}

fn form(draft: &Draft, device: Device) -> Form {
    let has = |field| draft.figures.named.contains_key(&field);
    if device == Device::Mps {
        Form::Mps
    } else if has(Field::Cached) {
        Form::A
    } else if has(Field::ReservedTotal) {
        Form::B
    } else if draft.misspelled {
        Form::C
    } else if has(Field::Total) || has(Field::ReservedUnallocated) {
        Form::D
    } else {
        Form::Other
    }
}
