//! Values in English.

use shared::analysis::oom::{
    Advice, Device, Field, Flag, Form, Message, Statistic, Statistics, Undecided,
};
use shared::units::size_text;

pub(super) fn device(device: Device) -> &'static str {
    match device {
        Device::Cuda => "CUDA",
        Device::Hip => "HIP",
        Device::Xpu => "XPU",
        Device::Npu => "NPU",
        Device::Mps => "MPS",
    }
}

pub(super) fn form(form: Form) -> &'static str {
    match form {
        Form::A => "as PyTorch to 1.3 writes it",
        Form::B => "as PyTorch 1.4 to 2.0 writes it",
        Form::C => "as PyTorch 2.1 to 2.3 writes it",
        Form::D => "as PyTorch from 2.4 on writes it",
        Form::Mps => "as PyTorch writes it for Apple's GPUs",
        Form::Other => "without figures that tell the version",
    }
}

pub(super) fn field(field: Field) -> &'static str {
    match field {
        Field::Tried => "asked from the driver",
        Field::Total => "card",
        Field::Free => "free on the card",
        Field::Allocated => "allocated by PyTorch",
        Field::Active => "active",
        Field::ReservedTotal => "reserved by PyTorch",
        Field::ReservedUnallocated => "reserved but unallocated",
        Field::Cached => "cached",
        Field::ThisProcess => "this process in all",
        Field::Allowed => "allowed",
        Field::PrivatePools => "cached in private pools",
        Field::Other => "other allocations",
    }
}

pub(super) fn statistic(statistic: Statistic) -> &'static str {
    match statistic {
        Statistic::Allocated => "allocated",
        Statistic::AllocatedPeak => "allocated at most",
        Statistic::Active => "active",
        Statistic::Requested => "requested",
        Statistic::Reserved => "reserved",
        Statistic::ReservedPeak => "reserved at most",
        Statistic::InactiveSplit => "cached, pinned by live blocks",
    }
}

/// The case, or why it cannot be told.
pub(super) fn verdict(message: &Message) -> String {
    let verdict = &message.verdict;
    if let Some(case) = verdict.case {
        return format!("Case {case}: {}\n", meaning(case));
    }
    let mut text = "Which case it is cannot be told: ".to_owned();
    text += match verdict.undecided {
        Some(Undecided::MissingFigure) if message.above_exabyte => {
            "the message has no figures, but more than 1 EB never fits. A size that large is usually \
             a negative number."
        }
        Some(Undecided::MissingFigure) => "the message lacks figures.",
        Some(Undecided::Rounding) | None => {
            "two sides of a test differ by less than the rounding of the printed figures."
        }
        Some(Undecided::ImpossibleFigure) => "a figure that the rule needs cannot be true.",
        Some(Undecided::OtherAllocator) => {
            "this device has an allocator of its own, of which the message does not tell whether \
             its cached memory could be used."
        }
    };
    text.push('\n');
    if !verdict.missing.is_empty() {
        let names: Vec<_> = verdict.missing.iter().map(|name| field(*name)).collect();
        text += &format!("Missing: {}.\n", names.join("; "));
    }
    for case in &verdict.candidates {
        text += &format!("Possible: case {case}: {}\n", meaning(*case));
    }
    text
}

fn meaning(case: u8) -> &'static str {
    match case {
        0 => "the request is larger than the card, or than what is allowed. It can never fit.",
        1 => {
            "capacity is not the reason, there was room. Something outside refused: a limit of the \
             driver, WDDM or a container, or another process took the memory in the meantime."
        }
        2 => {
            "real need. Even all cached memory together would not be enough, so no setting of the \
             allocator can help."
        }
        _ => {
            "it may be fragmentation. Free and cached memory together would be enough, but not in \
             one usable piece: live blocks or private pools hold it."
        }
    }
}

/// What a flag adds to the case; nothing for those that the case says already.
pub(super) fn flag(flag: Flag) -> Option<String> {
    Some(match flag {
        Flag::RequestAboveCard
        | Flag::FreeEnough
        | Flag::CachedEnough
        | Flag::FreeAndCachedEnough => return None,
        Flag::Limit => "A memory fraction ends before the card does.".to_owned(),
        Flag::Unaccounted { bytes } => format!(
            "{} of the card are in no figure: other programs or users hold them.",
            size_text(bytes)
        ),
        Flag::OutsideAllocator { bytes } => format!(
            "This process holds {} outside PyTorch's allocator: context, libraries, communication \
             buffers.",
            size_text(bytes)
        ),
        Flag::OtherProcessHoldsCard => "Another process holds most of the card.".to_owned(),
        Flag::FreeAboveTotal => "Impossible: more is free than the card has.".to_owned(),
        Flag::AllocatedAboveTotal => "More is allocated than the card has: the driver uses memory \
             of the system in its place."
            .to_owned(),
        Flag::ThisProcessAboveTotal => "Impossible: this process has more than the card. The \
             driver's figure underflowed; it is not used."
            .to_owned(),
        Flag::AllocatedAboveAllowed => {
            "More is allocated than is allowed: the limit came afterwards.".to_owned()
        }
    })
}

pub(super) fn advice(advice: Advice) -> &'static str {
    match advice {
        Advice::SmallerRequest => "ask for less at once: smaller batch, shorter sequence, chunks",
        Advice::FewerLiveTensors => {
            "keep less alive: checkpointing, lower precision, offloading, dropped references"
        }
        Advice::OtherProcess => "stop what else is on the card",
        Advice::RaiseLimit => "allow more (set_per_process_memory_fraction, MPS high watermark)",
        Advice::PrivatePools => "free the pools of CUDA graphs and MemPools",
        Advice::OutsideAllocator => "look at driver, container, WDDM and other programs",
        Advice::PinningBlocks => "record a snapshot and find the blocks that pin cached memory",
        Advice::ExpandableSegments => {
            "expandable_segments:True, where this build has it (not on Windows)"
        }
        Advice::AllocationOrder => "allocate what lives long first, the large before the small",
        Advice::Roundup => "round sizes that vary a little to equal ones",
        Advice::EmptyCache => "torch.cuda.empty_cache(); the allocator did it before it failed",
        Advice::MaxSplitSizeMb => "limits which blocks are split",
        Advice::GarbageCollectionThreshold => "gives back cached memory earlier",
    }
}

/// What statistics without a message can say.
pub(super) fn statistics(statistics: &Statistics) -> &'static str {
    if statistics.ooms.is_some_and(|count| count > 0) {
        "Allocations failed. Which case it was, the error message tells: it has the size asked for \
         and what was free.\n"
    } else if statistics.retries.is_some_and(|count| count > 0) {
        "No allocation failed, but the card was full: the allocator gave back its cache and tried \
         again, which is slow.\n"
    } else {
        "No allocation failed and the cache was never given back for lack of room.\n"
    }
}
