//! Predictions held against real runs: one program was recorded under several settings, and from
//! its recording under default settings alone, each other run is predicted. The real figures come
//! from the recording of the real run; none stands here.

use shared::ids::{DeviceIndex, EventIndex};
use shared::query::{Engine, Query, Reply, WhatIfCurves, WhatIfQuestion};
use shared::replay::{Cursor, FlushKind, Replay};
use shared::store::{DeviceRecord, Recording};
use shared::units::MIB;
use shared::whatif::{
    Advice, EmptyCaches, Figures, Knowledge, Question, Requests, Table, Trouble, Variant,
};
use tests::fixture;

struct Case {
    recording: Recording,
    replay: Replay,
}

impl Case {
    fn open(name: &str) -> Self {
        let recording = fixture::built_in(name);
        let replay = Replay::new(&recording, &recording.devices[0]);
        Self { recording, replay }
    }

    fn record(&self) -> &DeviceRecord {
        &self.recording.devices[0]
    }

    fn requests(&self) -> Requests {
        Requests::new(&self.recording, self.record(), &self.replay, 0)
    }

    fn question(&self, from: u32, variants: &[Variant]) -> Question {
        Question::new(&self.recording, self.record(), &self.replay, from, variants)
    }

    fn table(&self, variants: &[Variant]) -> Table {
        let mut question = self.question(0, variants);
        assert!(question.advance(usize::MAX));
        question.table(&self.recording, self.record(), &self.replay)
    }

    fn predict(&self, variant: &Variant) -> Figures {
        let table = self.table(std::slice::from_ref(variant));
        table.rows[0].outcome.clone().expect("it runs")
    }

    fn search(&self, circumstances: &Variant) -> Advice {
        let mut question = self.question(0, &[]);
        question.add_search(&self.recording, circumstances);
        question.advance(usize::MAX);
        let table = question.table(&self.recording, self.record(), &self.replay);
        question.advice(&table).expect("a search was asked for")
    }

    fn conf(&self) -> String {
        self.recording.settings().text
    }
}

fn check_prediction(from: &str, real: &str) {
    let recorded = Case::open(from);
    let real = Case::open(real);
    let conf = real.conf();
    let predicted = recorded.predict(&Variant::with_conf(&conf));

    // The real run may have gone on for longer: up to the same request they are held together.
    let ours: Vec<u64> = recorded
        .requests()
        .sizes()
        .map(|(_, bytes)| bytes)
        .collect();
    let asked: Vec<(EventIndex, u64)> = real.requests().sizes().collect();
    let last = asked.get(ours.len() - 1).expect("as many requests");
    let until = match asked.get(ours.len()) {
        Some(_) => last.0.0 + 1,
        None => real.replay.events(),
    };
    let events = &real.record().events;
    let whole = real.replay.sums().range(&real.replay, events, 0, until);
    let [allocated, _, _, reserved, ..] = whole.max;
    let mut cursor = Cursor::at_start(&real.replay);
    cursor.seek(&real.replay, events, until);
    let segments = cursor.state().runs(&real.replay).len() as u64;
    let retries = real
        .replay
        .flushes()
        .iter()
        .filter(|flush| flush.first.0 < until && flush.kind == FlushKind::Retry)
        .count() as u64;
    println!(
        "{from} -> {conf}: peak reserved {} MiB, {segments} segments, {retries} retries",
        reserved / MIB,
    );
    assert_eq!(predicted.peak_reserved_bytes, reserved, "{conf}: reserved");
    assert_eq!(
        predicted.peak_allocated_bytes, allocated,
        "{conf}: allocated"
    );
    assert_eq!(predicted.segments_at_end, segments, "{conf}: segments");
    assert_eq!(predicted.retries, retries, "{conf}: retries");
}

#[test]
fn predictions_meet_real_runs() {
    for (program, settings) in [
        ("varlen", ["expandable", "split128", "roundup4"].as_slice()),
        ("kv_cat", &["expandable"]),
        ("switch_models", &["expandable"]),
        ("oom", &["expandable", "split128"]),
    ] {
        for setting in settings {
            let from = format!("{program}.default");
            check_prediction(&from, &format!("{program}.{setting}"));
        }
    }
}

#[test]
fn a_run_under_the_recorded_settings_is_the_recording() {
    for name in [
        "varlen.default",
        "kv_cat.expandable",
        "oom.default",
        "graph_streams.default",
    ] {
        let case = Case::open(name);
        let table = case.table(&[]);
        let closeness = table.closeness.expect("it runs");
        let (recorded, replayed) = (closeness.recorded, closeness.replayed);
        assert_eq!(closeness.first_apart, None, "{name}");
        assert_eq!(replayed.driver_calls, recorded.driver_calls, "{name}");
        assert_eq!(replayed.peak_at, recorded.peak_at, "{name}");
        assert_eq!(replayed.first_oom_event, recorded.first_oom_event, "{name}");
        assert_eq!(
            replayed.waste_at_peak_bytes, recorded.waste_at_peak_bytes,
            "{name}"
        );
    }
}

#[test]
fn slices_lead_to_the_same_table() {
    let case = Case::open("switch_models.default");
    let variants = [
        Variant::with_conf("expandable_segments:True"),
        Variant::with_conf("no_such_option:1"),
        Variant::default(),
    ];
    let mut question = case.question(0, &variants);
    let mut slices = 0;
    while !question.advance(100) {
        slices += 1;
    }
    let (done, all) = question.progress();
    assert_eq!((done, all), (all, 3 * question.requests().len() as u64));
    assert!(slices > 100, "{slices}");
    let table = question.table(&case.recording, case.record(), &case.replay);
    assert_eq!(table, case.table(&variants));

    let order: Vec<u32> = table.rows.iter().map(|row| row.variant).collect();
    assert_eq!(
        order,
        [0, 2, 1],
        "the least reserved first, what cannot run last"
    );
    let Err(Trouble::Settings { message }) = &table.rows[2].outcome else {
        panic!("{:?}", table.rows[2].outcome);
    };
    assert!(message.contains("no_such_option"), "{message}");
}

#[test]
fn curves_show_what_the_recording_shows() {
    let case = Case::open("varlen.default");
    let mut question = case.question(0, &[]);
    question.advance(usize::MAX);
    let run = question.run(None).expect("it runs");
    let events = case.replay.events();
    assert_eq!(run.reserved().width(), 1, "nothing is left out");
    for columns in [1, 7, 100] {
        for column in 0..columns {
            let from = events * column / columns;
            let to = events * (column + 1) / columns;
            let sums = case.replay.sums();
            let recorded = sums.range(&case.replay, &case.record().events, from, to);
            let ours = run.allocated().range(from, to);
            assert_eq!(
                (ours.max, ours.last),
                (recorded.max[0], recorded.last.allocated)
            );
            let ours = run.reserved().range(from, to);
            assert_eq!(
                (ours.max, ours.last),
                (recorded.max[3], recorded.last.reserved)
            );
        }
    }
}

#[test]
fn empty_cache_can_be_left_out_and_called_elsewhere() {
    let case = Case::open("switch_models.default");
    let kept = case.predict(&Variant::default());
    let dropped = case.predict(&Variant {
        empty_caches: EmptyCaches::Dropped,
        ..Variant::default()
    });
    let calls: Vec<EventIndex> = case.requests().empty_caches().collect();
    assert!(calls.len() >= 2, "{calls:?}");
    assert!(dropped.driver_calls < kept.driver_calls);
    assert!(dropped.reserved_at_end_bytes > kept.reserved_at_end_bytes);
    assert_eq!(dropped.peak_allocated_bytes, kept.peak_allocated_bytes);

    // Left out one by one and called at the same places, nothing has changed.
    let moved = case.predict(&Variant {
        empty_caches: EmptyCaches::Without(calls.clone()),
        inserted: calls,
        ..Variant::default()
    });
    assert_eq!(moved, kept);
}

#[test]
fn a_run_can_begin_anywhere() {
    let case = Case::open("varlen.default");
    let from = case.replay.events() / 2;
    let mut question = case.question(from, &[]);
    question.advance(usize::MAX);
    let table = question.table(&case.recording, case.record(), &case.replay);
    let sums = case.replay.sums();
    let there = sums.at(&case.replay, &case.record().events, from);
    assert_eq!(table.start.at, EventIndex(from));
    assert_eq!(table.start.reserved_bytes, there.reserved);
    assert_eq!(table.start.allocated_bytes, there.allocated);
    let closeness = table.closeness.expect("it runs");
    assert_eq!(closeness.first_apart, None);
    assert_eq!(
        closeness.replayed.reserved_at_end_bytes,
        sums.end().reserved
    );
}

#[test]
fn a_smaller_card_refuses() {
    let case = Case::open("varlen.default");
    let needed = case.predict(&Variant::default());
    let on = |capacity_bytes: u64, others_bytes: u64| {
        case.predict(&Variant {
            capacity_bytes: Some(capacity_bytes),
            others_bytes: Some(others_bytes),
            ..Variant::default()
        })
    };
    let exactly = on(needed.peak_reserved_bytes + MIB, MIB);
    assert_eq!((exactly.retries, exactly.ooms), (0, 0));
    let short = on(needed.peak_reserved_bytes, MIB);
    assert!(short.retries > 0);
    assert!(short.peak_reserved_bytes < needed.peak_reserved_bytes);
    let far_short = on(needed.peak_allocated_bytes / 2, 0);
    assert!(far_short.ooms > 0);
    assert!(far_short.first_oom_event.is_some());
}

#[test]
fn limits_follow_from_what_was_refused() {
    let mut case = Case::open("oom.default");
    let stated = std::mem::take(&mut case.recording.environment.card);
    let limit = stated.limit_bytes.expect("the recording states it");
    let table = case.table(&[]);
    assert_eq!(table.card.limit_from, Knowledge::Bounded);
    assert_eq!(table.card.capacity_from, Knowledge::Nothing);
    let bounds = &table.bounds;
    assert!(bounds.limit_shows, "the card had room");
    let refused = bounds.refused_bytes.expect("requests were refused");
    assert!(
        bounds.fits_bytes <= limit && limit < refused,
        "{} <= {limit} < {refused}",
        bounds.fits_bytes
    );
    // The bound reproduces the recording as the limit does.
    let closeness = table.closeness.expect("it runs");
    assert_eq!(closeness.first_apart, None);
    assert_eq!(closeness.replayed.retries, closeness.recorded.retries);
    assert_eq!(closeness.replayed.ooms, 1);
}

#[test]
fn searching_finds_what_saves_a_run() {
    let oom = Case::open("oom.default");
    let Advice::Saves(gain) = oom.search(&Variant::default()) else {
        panic!("nothing saves it");
    };
    assert!(
        gain.conf.contains("expandable_segments:True"),
        "{}",
        gain.conf
    );
    assert_eq!((gain.before.ooms, gain.after.ooms), (1, 0));

    let growing = Case::open("kv_cat.default");
    let Advice::Lowers(gain) = growing.search(&Variant::default()) else {
        panic!("nothing lowers it");
    };
    assert!(
        gain.conf.contains("expandable_segments:True"),
        "{}",
        gain.conf
    );
    assert!(gain.after.peak_reserved_bytes * 20 < gain.before.peak_reserved_bytes);

    // On a card just large enough for it, the same is found.
    let small = Variant {
        capacity_bytes: Some(gain.after.peak_reserved_bytes + MIB * 256),
        ..Variant::default()
    };
    let advice = growing.search(&small);
    let (Advice::Saves(gain) | Advice::Lowers(gain)) = &advice else {
        panic!("{advice:?}");
    };
    assert!(
        gain.conf.contains("expandable_segments:True"),
        "{}",
        gain.conf
    );
}

#[test]
fn a_page_asks_again_until_it_is_answered() {
    let mut engine = Engine::new(fixture::built_in("kv_cat.default"));
    let query = |conf: &str| Query::WhatIf {
        device: DeviceIndex(0),
        question: WhatIfQuestion {
            variants: vec![Variant::with_conf(conf)],
            ..WhatIfQuestion::default()
        },
        columns: 50,
        most: 1000,
    };
    let mut ask = |conf: &str| match engine.answer(&query(conf)) {
        Reply::WhatIf(view) => *view,
        other => panic!("{other:?}"),
    };
    let mut seen = 0;
    let answer = loop {
        let view = ask("expandable_segments:True");
        assert!(view.done > seen, "{} of {}", view.done, view.total);
        seen = view.done;
        if let Some(answer) = view.answer {
            assert_eq!(view.done, view.total);
            break answer;
        }
    };
    assert_eq!(answer.curves.len(), 2);
    let [own, other] = answer.curves.as_slice() else {
        panic!("two runs");
    };
    let peak = |curves: &WhatIfCurves| curves.reserved.iter().map(|s| s.max).max();
    let closeness = answer.table.closeness.expect("it runs");
    assert_eq!(own.reserved.len(), 50);
    assert_eq!(peak(own), Some(closeness.replayed.peak_reserved_bytes));
    let Ok(figures) = &answer.table.rows[0].outcome else {
        panic!("it runs");
    };
    assert_eq!(peak(other), Some(figures.peak_reserved_bytes));
    assert_eq!(ask("").done, 1000, "another question begins anew");
}
