//! What the explanation says, in the language of the page.

use shared::analysis::oom::{
    Advice, Device, Field, Flag, Form, Message, PartKind, Statistic, Statistics, StatisticsKind,
    Undecided,
};
use shared::units::size_text;

use crate::text;

/// Where the message stands and who wrote it.
pub(super) fn heading(message: &Message) -> String {
    let device = match message.device {
        Device::Cuda => "CUDA",
        Device::Hip => "HIP",
        Device::Xpu => "XPU",
        Device::Npu => "NPU",
        Device::Mps => "MPS",
    };
    let mut parts = vec![device.to_owned()];
    parts.extend(message.gpu.map(|gpu| format!("GPU {gpu}")));
    parts.extend(
        message
            .rank
            .map(|rank| text::diagnosis_rank(rank.to_string())),
    );
    parts.push(text::diagnosis_line(message.line));
    if message.times > 1 {
        parts.push(text::diagnosis_times(message.times));
    }
    parts.push(match message.form {
        Form::A => text::diagnosis_form_a(),
        Form::B => text::diagnosis_form_b(),
        Form::C => text::diagnosis_form_c(),
        Form::D => text::diagnosis_form_d(),
        Form::Mps => text::diagnosis_form_mps(),
        Form::Other => text::diagnosis_form_other(),
    });
    parts.join(" · ")
}

/// The case, or why it cannot be told and what remains possible; a line each.
pub(super) fn verdict(message: &Message) -> Vec<String> {
    let verdict = &message.verdict;
    if let Some(case) = verdict.case {
        return vec![meaning(case)];
    }
    let mut lines = vec![match verdict.undecided {
        Some(Undecided::MissingFigure) if message.above_exabyte => text::diagnosis_exabyte(),
        Some(Undecided::MissingFigure) => text::diagnosis_undecided_missing(),
        Some(Undecided::Rounding) | None => text::diagnosis_undecided_rounding(),
        Some(Undecided::ImpossibleFigure) => text::diagnosis_undecided_impossible(),
        Some(Undecided::OtherAllocator) => text::diagnosis_undecided_allocator(),
    }];
    if !verdict.missing.is_empty() {
        let names: Vec<_> = verdict.missing.iter().map(|name| field(*name)).collect();
        lines.push(text::diagnosis_missing(names.join(" · ")));
    }
    let possible = verdict.candidates.iter().map(|case| meaning(*case));
    lines.extend(possible.map(text::diagnosis_possible));
    lines
}

fn meaning(case: u8) -> String {
    match case {
        0 => text::diagnosis_case_0(),
        1 => text::diagnosis_case_1(),
        2 => text::diagnosis_case_2(),
        _ => text::diagnosis_case_3(),
    }
}

/// What a flag adds to the case; nothing for those that the case says already.
pub(super) fn flag(flag: Flag) -> Option<String> {
    Some(match flag {
        Flag::RequestAboveCard
        | Flag::FreeEnough
        | Flag::CachedEnough
        | Flag::FreeAndCachedEnough => return None,
        Flag::Limit => text::diagnosis_flag_limit(),
        Flag::Unaccounted { bytes } => text::diagnosis_flag_unaccounted(size_text(bytes)),
        Flag::OutsideAllocator { bytes } => text::diagnosis_flag_outside(size_text(bytes)),
        Flag::OtherProcessHoldsCard => text::diagnosis_flag_other_process(),
        Flag::FreeAboveTotal => text::diagnosis_flag_free_total(),
        Flag::AllocatedAboveTotal => text::diagnosis_flag_allocated_total(),
        Flag::ThisProcessAboveTotal => text::diagnosis_flag_this_total(),
        Flag::AllocatedAboveAllowed => text::diagnosis_flag_allocated_allowed(),
    })
}

pub(super) fn advice(advice: Advice) -> String {
    match advice {
        Advice::SmallerRequest => text::diagnosis_advice_smaller_request(),
        Advice::FewerLiveTensors => text::diagnosis_advice_fewer_live_tensors(),
        Advice::OtherProcess => text::diagnosis_advice_other_process(),
        Advice::RaiseLimit => text::diagnosis_advice_raise_limit(),
        Advice::PrivatePools => text::diagnosis_advice_private_pools(),
        Advice::OutsideAllocator => text::diagnosis_advice_outside_allocator(),
        Advice::PinningBlocks => text::diagnosis_advice_pinning_blocks(),
        Advice::ExpandableSegments => text::diagnosis_advice_expandable_segments(),
        Advice::AllocationOrder => text::diagnosis_advice_allocation_order(),
        Advice::Roundup => text::diagnosis_advice_roundup(),
        Advice::EmptyCache => text::diagnosis_advice_empty_cache(),
        Advice::MaxSplitSizeMb => text::diagnosis_advice_max_split_size(),
        Advice::GarbageCollectionThreshold => text::diagnosis_advice_garbage_collection(),
    }
}

pub(super) fn field(field: Field) -> String {
    match field {
        Field::Tried => text::diagnosis_field_tried(),
        Field::Total => text::diagnosis_field_total(),
        Field::Free => text::diagnosis_field_free(),
        Field::Allocated => text::diagnosis_field_allocated(),
        Field::Active => text::diagnosis_field_active(),
        Field::ReservedTotal => text::diagnosis_field_reserved(),
        Field::ReservedUnallocated => text::diagnosis_field_unallocated(),
        Field::Cached => text::diagnosis_field_cached(),
        Field::ThisProcess => text::diagnosis_field_this_process(),
        Field::Allowed => text::diagnosis_allowed(),
        Field::PrivatePools => text::diagnosis_field_private_pools(),
        Field::Other => text::diagnosis_field_other(),
    }
}

pub(super) fn part(kind: PartKind) -> String {
    match kind {
        PartKind::Allocated => text::diagnosis_field_allocated(),
        PartKind::PrivatePools => text::diagnosis_field_private_pools(),
        PartKind::Cached => text::diagnosis_field_unallocated(),
        PartKind::Outside => text::diagnosis_part_outside(),
        PartKind::OtherProcesses => text::diagnosis_part_others(),
        PartKind::Unaccounted => text::diagnosis_part_unaccounted(),
        PartKind::Free => text::diagnosis_field_free(),
    }
}

pub(super) fn statistic(statistic: Statistic) -> String {
    match statistic {
        Statistic::Allocated => text::diagnosis_field_allocated(),
        Statistic::AllocatedPeak => text::diagnosis_stat_allocated_peak(),
        Statistic::Active => text::diagnosis_field_active(),
        Statistic::Requested => text::diagnosis_stat_requested(),
        Statistic::Reserved => text::diagnosis_field_reserved(),
        Statistic::ReservedPeak => text::diagnosis_stat_reserved_peak(),
        Statistic::InactiveSplit => text::diagnosis_stat_pinned(),
    }
}

pub(super) fn statistics_heading(statistics: &Statistics) -> String {
    let kind = match statistics.kind {
        StatisticsKind::MemorySummary => "memory_summary()",
        StatisticsKind::MemoryStats => "memory_stats()",
    };
    match statistics.device {
        Some(device) => format!("{kind} · GPU {device}"),
        None => kind.to_owned(),
    }
}

/// What the counts of failures and retries say.
pub(super) fn statistics(statistics: &Statistics) -> String {
    let (ooms, retries) = (
        statistics.ooms.unwrap_or(0),
        statistics.retries.unwrap_or(0),
    );
    if ooms > 0 {
        text::diagnosis_stat_failed(ooms, retries)
    } else if retries > 0 {
        text::diagnosis_stat_retried(retries)
    } else {
        text::diagnosis_stat_calm()
    }
}
