//! Out-of-memory messages from public reports, rebuilt as text from their figures: the figures and
//! the case come back, wherever the message hides.

mod oom_text;

use oom_text::{Record, decimal_bytes, in_traceback, message, records};
use proptest::prelude::*;
use shared::analysis::oom::{
    Advice, Device, Explanation, Field, Flag, Form, Message, Statistic, StatisticsKind, Undecided,
    explain,
};
use shared::units::{GIB, KIB, MIB};

/// The only message of a text.
fn only(text: &str) -> Message {
    let Explanation { messages, .. } = explain(text);
    assert_eq!(messages.len(), 1, "{text}\n{messages:#?}");
    messages.into_iter().next().unwrap()
}

/// Whether the figures, the case and the flags of the record came back.
fn assert_comes_back(record: &Record, found: &Message) {
    let n = &record.n;
    for (field, text) in record.figures() {
        let figure = found.figures.get(field);
        assert_eq!(
            figure.map(|figure| figure.bytes()),
            text.map(decimal_bytes),
            "{n}: {field:?}"
        );
    }
    let processes: Vec<(u64, i128)> = found
        .figures
        .processes
        .iter()
        .map(|process| (process.pid, process.in_use.bytes()))
        .collect();
    let expected: Vec<(u64, i128)> = record
        .processes()
        .map(|(pid, size)| (pid, decimal_bytes(size)))
        .collect();
    assert_eq!(processes, expected, "{n}");
    assert_eq!(found.verdict.case, record.case, "{n}: {:?}", found.verdict);
    assert_eq!(found.gpu, record.gpu, "{n}");
    assert_eq!(found.device, record.device, "{n}");
    if found.verdict.case.is_none() {
        assert!(found.verdict.undecided.is_some(), "{n}");
        assert!(!found.verdict.candidates.is_empty(), "{n}");
    }
}

#[test]
fn every_public_message_gives_its_figures_and_its_case() {
    let records = records();
    assert_eq!(records.len(), 46);
    for record in &records {
        assert_comes_back(record, &only(&message(record)));
    }
}

#[test]
fn every_public_message_gives_its_flags() {
    for record in records() {
        let Some(expected) = record.flag_words() else {
            continue;
        };
        let mut found: Vec<&str> = only(&message(&record))
            .flags
            .iter()
            .map(|flag| flag.word())
            .collect();
        found.sort_unstable();
        assert_eq!(found, expected, "{}", record.n);
    }
}

#[test]
fn the_form_is_told_from_the_words() {
    for record in records() {
        let found = only(&message(&record)).form;
        let expected = match record.form.as_str() {
            "A" => Form::A,
            "B" | "B+active" => Form::B,
            "C" => Form::C,
            "D" => Form::D,
            "MPS" => Form::Mps,
            _ => Form::Other,
        };
        assert_eq!(found, expected, "{}", record.n);
    }
}

#[test]
fn messages_are_found_in_tracebacks_logs_comments_and_wrapped_lines() {
    for record in records() {
        let text = message(&record);
        let wrapped = text.replace(' ', "\n# ");
        let repr = format!(
            "{{\"error\": \"{}\", \"step\": 12}}",
            text.replace('(', " (")
        );
        let prefixed = format!("[rank0]: {}", text.replace(' ', "\n[rank0]: "));
        let coloured = format!("\u{1b}[31m{text}\u{1b}[0m");
        for hidden in [in_traceback(&text, 0), wrapped, repr, prefixed, coloured] {
            assert_comes_back(&record, &only(&hidden));
        }
    }
}

#[test]
fn all_messages_in_one_log_come_back_in_order() {
    let records = records();
    let log: String = records
        .iter()
        .enumerate()
        .map(|(rank, record)| in_traceback(&message(record), rank))
        .collect();
    let found = explain(&log).messages;
    assert_eq!(found.len(), records.len());
    for (rank, (record, found)) in records.iter().zip(&found).enumerate() {
        assert_comes_back(record, found);
        assert_eq!(found.rank, u32::try_from(rank).ok());
        let line = log.lines().nth(found.line as usize - 1).unwrap();
        assert!(line.contains("rror: "), "{line}");
    }
}

#[test]
fn a_message_that_is_repeated_counts_once() {
    let text = message(&records()[0]);
    let found = only(&format!("{text}\n{text}\nCUDA out of memory.\n{text}"));
    assert_eq!(found.times, 3);
    assert_eq!(found.line, 1);
}

#[test]
fn rounding_is_half_a_hundredth_of_the_unit_and_bytes_are_exact() {
    let found = only(
        "CUDA out of memory. Tried to allocate 1024 bytes. GPU 0 has a total capacity of 2.00 GiB \
         of which 1.50 KiB is free. Of the allocated memory 1017.01 MiB is allocated by PyTorch, \
         and 0 bytes is reserved by PyTorch but unallocated.",
    );
    let width = |field| found.figures.get(field).unwrap().half_width_bytes();
    assert_eq!(width(Field::Tried), 0);
    assert_eq!(width(Field::Total), GIB / 200 + 1);
    assert_eq!(width(Field::Free), KIB / 200 + 1);
    assert_eq!(width(Field::Allocated), MIB / 200 + 1);
    assert_eq!(width(Field::ReservedUnallocated), 0);
    assert_eq!(found.verdict.case, Some(1));
}

fn form_d(tried: &str, free: &str, allowed: &str, allocated: &str, gap: &str) -> Message {
    only(&format!(
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate {tried}. GPU 0 has a total \
         capacity of 79.25 GiB of which {free} is free. {allowed}Of the allocated memory {allocated} \
         is allocated by PyTorch, and {gap} is reserved by PyTorch but unallocated."
    ))
}

#[test]
fn sides_closer_than_their_rounding_cannot_be_told() {
    // room + gap is 2.00 ± 0.01 GiB.
    let found = form_d("2.01 GiB", "1.00 GiB", "", "77.00 GiB", "1.00 GiB");
    assert_eq!(found.verdict.case, None);
    assert_eq!(found.verdict.candidates, [2, 3]);
    assert_eq!(found.verdict.undecided, Some(Undecided::Rounding));
    assert_eq!(
        found.advice.helps,
        [Advice::SmallerRequest, Advice::FewerLiveTensors]
    );
    let found = form_d("2.02 GiB", "1.00 GiB", "", "77.00 GiB", "1.00 GiB");
    assert_eq!(found.verdict.case, Some(2));
    let found = form_d("1.98 GiB", "1.00 GiB", "", "77.00 GiB", "1.00 GiB");
    assert_eq!(found.verdict.case, Some(3));
    // Exact figures leave nothing open: what fits to the byte fits.
    let found = form_d("512 bytes", "512 bytes", "", "70.00 GiB", "0 bytes");
    assert_eq!(found.verdict.case, Some(1));
}

#[test]
fn a_fraction_bounds_the_room_and_can_be_raised() {
    // The recorded failure under a fraction: the card has 135 GiB free.
    let found = form_d(
        "298.00 MiB",
        "35.15 GiB",
        "4.19 GiB allowed; ",
        "3.71 GiB",
        "202.99 MiB",
    );
    assert_eq!(found.verdict.case, Some(3));
    assert!(found.flags.contains(&Flag::Limit));
    assert!(found.advice.helps.contains(&Advice::RaiseLimit));
    assert!(found.advice.helps.contains(&Advice::ExpandableSegments));
    assert!(found.advice.does_not_help.contains(&Advice::OtherProcess));
    // More than the fraction can never fit, and then only the fraction or the request can change.
    let found = form_d(
        "5.00 GiB",
        "35.15 GiB",
        "4.19 GiB allowed; ",
        "1.00 GiB",
        "0 bytes",
    );
    assert_eq!(found.verdict.case, Some(0));
    assert_eq!(
        found.advice.helps,
        [Advice::SmallerRequest, Advice::RaiseLimit]
    );
}

#[test]
fn no_setting_is_recommended_where_the_need_is_real() {
    for record in records() {
        let found = only(&message(&record));
        let lists = &found.advice;
        match found.verdict.case {
            Some(0..=2) => {
                assert!(lists.does_not_help.contains(&Advice::ExpandableSegments));
                assert!(lists.does_not_help.contains(&Advice::MaxSplitSizeMb));
            }
            Some(_) => assert!(lists.helps.contains(&Advice::ExpandableSegments)),
            None => {}
        }
        // Before it failed the allocator did exactly that.
        assert!(!lists.helps.contains(&Advice::EmptyCache), "{}", record.n);
        let both = lists
            .helps
            .iter()
            .find(|word| lists.does_not_help.contains(word));
        assert_eq!(both, None, "{}", record.n);
    }
}

#[test]
fn advice_names_other_processes_and_private_pools_where_they_are_enough() {
    let by_n = |n: &str| {
        let records = records();
        only(&message(
            records.iter().find(|record| record.n == n).unwrap(),
        ))
    };
    // Another process holds 127 of 140 GiB.
    let shared_card = by_n("40");
    assert!(shared_card.advice.helps.contains(&Advice::OtherProcess));
    // In a container the process is listed by number and must not be told to stop itself.
    let container = by_n("43");
    assert_eq!(
        container.figures.own_process().map(|own| own.pid),
        Some(1_738_415)
    );
    assert!(!container.advice.helps.contains(&Advice::OtherProcess));
    // 982 MiB in private pools would serve 200 MiB, though the case is real need.
    let graphs = by_n("38");
    assert_eq!(graphs.verdict.case, Some(2));
    assert!(graphs.advice.helps.contains(&Advice::PrivatePools));
    // Nearly everything in private pools: look there first.
    assert_eq!(by_n("37").advice.helps.first(), Some(&Advice::PrivatePools));
}

#[test]
fn impossible_figures_are_reported_and_not_believed() {
    let found = form_d("1.00 GiB", "90.00 GiB", "", "10.00 GiB", "0 bytes");
    assert!(found.flags.contains(&Flag::FreeAboveTotal));
    assert_eq!(found.verdict.case, None);
    assert_eq!(found.verdict.undecided, Some(Undecided::ImpossibleFigure));
    assert_eq!(
        found.figures.get(Field::Free).unwrap().clamped_bytes(),
        90 * GIB
    );

    let text = message(records().iter().find(|record| record.n == "47").unwrap());
    let underflow = only(&text);
    assert!(underflow.flags.contains(&Flag::ThisProcessAboveTotal));
    let this = underflow.figures.get(Field::ThisProcess).unwrap();
    assert_eq!(this.bytes(), 1 << 64);
    assert_eq!(underflow.figures.this_process(), None);
}

#[test]
fn errors_without_figures_are_named_only_where_nothing_else_is() {
    let bare = only("RuntimeError: CUDA error: out of memory\nCompile with TORCH_USE_CUDA_DSA");
    assert_eq!(bare.form, Form::Other);
    assert_eq!(bare.verdict.undecided, Some(Undecided::MissingFigure));
    let exabyte = only("NPU out of memory. Tried to allocate more than 1EB memory.");
    assert_eq!(exabyte.device, Device::Npu);
    assert_eq!(exabyte.verdict.candidates, [0]);
}

#[test]
fn other_texts_hold_no_message() {
    for text in [
        "",
        "the host ran out of memory",
        "/dev/sda1 100 GiB total, 5.00 GiB free",
        "Loaded 4.2 GiB of weights; 3.00 GiB allocated on GPU 0",
        "显存不足 12.00 GiB",
    ] {
        assert_eq!(explain(text), Explanation::default(), "{text}");
    }
}

#[test]
fn memory_summary_tables_are_read() {
    let text = include_str!("../data/memory_summary.txt");
    let found = explain(text).statistics;
    assert_eq!(found.len(), 1);
    let table = &found[0];
    assert_eq!(table.kind, StatisticsKind::MemorySummary);
    assert_eq!(
        (table.device, table.ooms, table.retries),
        (Some(0), Some(1), Some(9))
    );
    let mib = |statistic| table.get(statistic).unwrap().clamped_bytes() / MIB;
    assert_eq!(mib(Statistic::Allocated), 3506);
    assert_eq!(mib(Statistic::AllocatedPeak), 3990);
    assert_eq!(mib(Statistic::Requested), 3500);
    assert_eq!(
        table.get(Statistic::Allocated).unwrap().half_width_bytes(),
        MIB
    );
    assert_eq!(table.advice().does_not_help, [Advice::EmptyCache]);
}

#[test]
fn a_table_behind_a_message_leaves_the_message_as_it_is() {
    let record = records()
        .into_iter()
        .find(|record| record.n == "21")
        .unwrap();
    let text = message(&record) + "\n" + include_str!("../data/memory_summary.txt");
    assert_comes_back(&record, &only(&text));
    assert_eq!(explain(&text).statistics.len(), 1);
}

#[test]
fn memory_stats_dictionaries_are_read_in_every_notation() {
    let pairs = [
        ("active_bytes.all.current", 3_676_705_280_u64),
        ("allocated_bytes.all.current", 3_676_705_280),
        ("allocated_bytes.all.peak", 4_184_863_744),
        ("inactive_split_bytes.all.current", 212_500_480),
        ("num_alloc_retries", 9),
        ("num_ooms", 1),
        ("reserved_bytes.all.current", 3_890_216_960),
    ];
    let entries = |open: &str, middle: &str, close: &str| {
        let entries = pairs.map(|(key, value)| format!("{open}{key}{middle}{value}{close}"));
        entries.join(", ")
    };
    for text in [
        format!("OrderedDict([{}])", entries("('", "', ", ")")),
        format!("{{{}}}", entries("'", "': ", "")),
        format!("{{\n{}\n}}", entries("\"", "\": ", "\n")),
    ] {
        let found = explain(&text).statistics;
        assert_eq!(found.len(), 1, "{text}");
        let stats = &found[0];
        assert_eq!(stats.kind, StatisticsKind::MemoryStats);
        assert_eq!((stats.ooms, stats.retries), (Some(1), Some(9)));
        let bytes = |statistic| stats.get(statistic).unwrap().clamped_bytes();
        assert_eq!(bytes(Statistic::Allocated), 3_676_705_280);
        assert_eq!(bytes(Statistic::AllocatedPeak), 4_184_863_744);
        assert_eq!(bytes(Statistic::Reserved), 3_890_216_960);
        assert_eq!(bytes(Statistic::InactiveSplit), 212_500_480);
        assert_eq!(
            stats.releasable().unwrap().clamped_bytes(),
            3_890_216_960 - 3_676_705_280 - 212_500_480
        );
    }
}

#[test]
fn a_log_of_many_megabytes_is_searched() {
    let noise = "step 12: loss 0.31, 3.20 GiB allocated, GPU 0 at 71 percent\n".repeat(200_000);
    let text = format!("{noise}{}\n{noise}", message(&records()[0]));
    let found = only(&text);
    assert_eq!(found.line, 200_001);
    assert_comes_back(&records()[0], &found);
}

/// Parts of messages, to be put together in every wrong way.
fn fragment() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec![
        "CUDA out of memory.",
        "MPS backend out of memory (",
        "Tried to allocate",
        "more than 1EB memory",
        "GPU 0",
        "GPU 99999999999999999999",
        "Process 7 has",
        "this process has",
        "memory in use.",
        "total capacity of",
        "is free.",
        "allowed;",
        "is allocated by PyTorch",
        "is reserved by PyTorch but unallocated",
        "99999999999999999999 GiB",
        "999999999999999999999999 GiB",
        "0.00000000000000000001 TiB",
        "1..2 MiB",
        "1.0.0 MiB",
        ". GiB",
        "17179869184.00 GiB",
        "0 bytes",
        "[rank99999999999]:",
        "PyTorch CUDA memory summary, device ID 0",
        "| Allocated memory | 1 TiB |",
        "num_ooms 18446744073709551616",
    ])
    .prop_map(str::to_owned);
    prop_oneof![4 => words, 1 => ".{0,12}"]
}

proptest! {
    #[test]
    fn garbage_is_searched_without_fear(text in "\\PC{0,400}") {
        let found = explain(&text);
        prop_assert!(found.messages.len() <= text.len());
    }

    #[test]
    fn fragments_in_any_order_are_searched_without_fear(
        parts in prop::collection::vec(fragment(), 0..40)
    ) {
        let found = explain(&parts.join(" "));
        for message in found.messages {
            prop_assert!(!message.verdict.candidates.is_empty());
        }
    }

    #[test]
    fn a_message_cut_anywhere_never_changes_the_figures_that_are_left(
        n in 0_usize..46,
        cut in 0_usize..600,
    ) {
        let record = &records()[n];
        let text = message(record);
        let end = text.floor_char_boundary(cut.min(text.len()));
        for found in explain(&text[..end]).messages {
            for (field, text) in record.figures() {
                if let Some(figure) = found.figures.get(field) {
                    prop_assert_eq!(Some(figure.bytes()), text.map(decimal_bytes));
                }
            }
        }
    }
}
