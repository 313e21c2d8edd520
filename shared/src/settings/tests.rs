use super::*;

fn parse(text: &str) -> Settings {
    Settings::parse(text).expect("a text that PyTorch accepts")
}

fn check_error(text: &str, token: usize, message: &str) {
    let error = Settings::parse(text).expect_err(text);
    assert_eq!((error.token, error.to_string().as_str()), (token, message));
}

#[test]
fn defaults_are_those_of_pytorch() {
    let s = parse("");
    assert_eq!(s, Settings::default());
    assert_eq!(s.max_split_signed(), -1);
    assert_eq!(s.max_non_split_rounding_bytes, 20 * MIB);
}

#[test]
fn rounds_to_512_by_default() {
    let s = parse("");
    for (requested, rounded) in [
        (0, 512),
        (1, 512),
        (512, 512),
        (513, 1024),
        (1 << 20, 1 << 20),
        ((1 << 20) + 1, 1_049_088),
        ((10 << 20) + 1, 10_486_272),
        (u64::MAX, u64::MAX - 511),
    ] {
        assert_eq!(s.round(requested), rounded, "{requested}");
    }
}

#[test]
fn rounds_to_power_of_two_divisions() {
    let s = parse("roundup_power2_divisions:4");
    for (requested, rounded) in [
        (1200, 1536),
        (2048, 2048),
        (2049, 2560),
        (3000, 3072),
        (716_800, 786_432),
        (921_600, 1_048_576),
        (5_242_881, 6_291_456),
        (10_485_761, 12_582_912),
    ] {
        assert_eq!(s.round(requested), rounded, "{requested}");
    }
    assert_eq!(parse("roundup_power2_divisions:1").round(3001), 3072);
}

#[test]
fn list_form_leaves_gaps_and_fills_below_the_first() {
    let s = parse("roundup_power2_divisions:[64:8,256:4,>:2]");
    let mut expected = [2; ROUNDUP_SLOTS];
    expected[..7].fill(8);
    expected[7] = 0;
    expected[8] = 4;
    assert_eq!(s.roundup_divisions, expected);

    let only_rest = parse("roundup_power2_divisions:[>:4]").roundup_divisions;
    assert_eq!((only_rest[0], only_rest[1], only_rest[15]), (0, 4, 4));
    let zero = parse("roundup_power2_divisions:[1:0,2:8]").roundup_divisions;
    assert_eq!((zero[0], zero[1], zero[2]), (0, 8, 0));
}

#[test]
fn segments_by_rounded_size() {
    let s = parse("");
    for (rounded, segment) in [
        (512, 2 << 20),
        (1 << 20, 2 << 20),
        (1_049_088, 20 << 20),
        ((10 << 20) - 512, 20 << 20),
        (10 << 20, 10 << 20),
        (10_486_272, 12 << 20),
    ] {
        assert_eq!(s.segment_bytes(rounded), segment, "{rounded}");
    }
    assert_eq!(
        parse("large_segment_size_mb:32").segment_bytes(2 << 20),
        32 << 20
    );
}

#[test]
fn split_rule_is_strict_in_the_large_pool() {
    let s = parse("max_split_size_mb:64");
    assert!(s.splits(PoolKind::Small, 512, 512, false));
    assert!(!s.splits(PoolKind::Small, 512, 511, false));
    assert!(!s.splits(PoolKind::Large, 4 << 20, 1 << 20, false));
    assert!(s.splits(PoolKind::Large, 4 << 20, (1 << 20) + 512, false));
    assert!(!s.splits(PoolKind::Large, 64 << 20, 30 << 20, false));
    assert!(s.splits(PoolKind::Large, 64 << 20, 512, true));
}

#[test]
fn separators_and_white_space_do_not_matter() {
    assert_eq!(parse("max_split_size_mb,25").max_split_bytes, 25 << 20);
    assert_eq!(parse("max_split _size_mb : 2 5,").max_split_bytes, 25 << 20);
    assert_eq!(parse("max_split_size_mb:100abc").max_split_bytes, 100 << 20);
    assert_eq!(
        parse("max_split_size_mb:30,max_split_size_mb:40").max_split_bytes,
        40 << 20
    );
    assert_eq!(
        parse("max_split_size_mb:-1").max_split_bytes,
        (u64::MAX >> 20) << 20
    );
}

#[test]
fn errors_are_worded_as_pytorch_words_them() {
    check_error(
        "a:1 b:2",
        0,
        "Unrecognized key 'a' in Accelerator allocator config.",
    );
    check_error(
        "expandable_segments:True max_split_size_mb:128",
        2,
        "Expected 'True' or 'False' at index 2 in ConfigTokenizer but got 'Truemax_split_size_mb'",
    );
    check_error(
        "max_split_size_mb:30 expandable_segments:True",
        4,
        "Unrecognized key 'True' in Accelerator allocator config.",
    );
    check_error(
        "max_split_size_mb:19",
        2,
        "CachingAllocator option max_split_size_mb too small, must be >= 20",
    );
    check_error(
        "max_split_size_mb:31,large_segment_size_mb:32",
        2,
        "CachingAllocator option max_split_size_mb too small, must be >= 32",
    );
    check_error(
        "large_segment_size_mb:10",
        2,
        "CachingAllocator option large_segment_size_mb must be > 10 MB",
    );
    check_error(
        "max_non_split_rounding_mb:1",
        2,
        "CachingAllocator option max_non_split_rounding_mb too small, must be >= 20",
    );
    check_error(
        "garbage_collection_threshold:1",
        2,
        "garbage_collect_threshold is invalid, set it in (0.0, 1.0)",
    );
    check_error(
        "roundup_power2_divisions:0",
        2,
        "For roundups, the divisions has to be power of 2 ",
    );
    check_error(
        "roundup_power2_divisions:[64:3]",
        5,
        "For roundups, the divisions has to be power of 2 or 0 to disable roundup ",
    );
    check_error(
        "roundup_power2_divisions:[3:4]",
        3,
        "For roundups, the intervals have to be power of 2 ",
    );
    check_error(
        "max_split_size_mb",
        2,
        "Index out of bounds in ConfigTokenizer",
    );
    check_error(
        "roundup_power2_divisions:[1:2",
        6,
        "Index out of bounds in ConfigTokenizer",
    );
    check_error("max_split_size_mb:abc", 2, "stoull");
    check_error(
        "backend:other",
        2,
        "Unknown allocator backend, options are native and cudaMallocAsync",
    );
    check_error(
        "pinned_num_register_threads:3",
        2,
        "Number of register threads has to be power of 2, got 3",
    );
    check_error(
        "throw_on_cudamalloc_oom:True",
        0,
        "Unrecognized key 'throw_on_cudamalloc_oom' in Accelerator allocator config.",
    );
}

#[test]
fn a_change_at_run_time_resets_four_options_and_keeps_the_rest() {
    let mut s = parse(
        "expandable_segments:True,max_split_size_mb:64,max_non_split_rounding_mb:60,\
         garbage_collection_threshold:0.6,roundup_power2_divisions:8,large_segment_size_mb:32",
    );
    s.apply("").expect("an empty text is fine");
    assert_eq!(
        s,
        Settings {
            expandable_segments: true,
            large_segment_bytes: 32 << 20,
            max_non_split_rounding_bytes: 32 << 20,
            ..Settings::default()
        }
    );
}

#[test]
fn an_error_leaves_what_was_read_before_it_in_force() {
    let mut s = parse("max_split_size_mb:64,expandable_segments:True");
    let text = "garbage_collection_threshold:0.5,nonsense:1,expandable_segments:False";
    assert!(s.apply(text).is_err());
    assert_eq!(s.max_split_bytes, UNLIMITED);
    assert_eq!(s.garbage_collection_threshold, 0.5);
    assert!(s.expandable_segments);
    assert_eq!(s.text, text);
}

#[test]
fn the_backend_is_chosen_at_load_time() {
    let mut s = parse("backend:native");
    let error = s.apply("backend:cudaMallocAsync").expect_err("too late");
    assert_eq!(error.kind, SettingsErrorKind::BackendChanged);
    assert_eq!(
        parse("backend:cudaMallocAsync").backend,
        Backend::CudaMallocAsync
    );
}
