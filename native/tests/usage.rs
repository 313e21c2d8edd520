//! Exit status and messages that all commands share.

use assert_cmd::Command;

fn vramscope(arguments: &[&str]) -> std::process::Output {
    Command::cargo_bin("vramscope")
        .unwrap()
        .args(arguments)
        .output()
        .unwrap()
}

#[test]
fn wrong_usage_has_status_2_and_help_has_0() {
    let check = |arguments: &[&str], status: i32, says: &str| {
        let output = vramscope(arguments);
        assert_eq!(output.status.code(), Some(status), "{arguments:?}");
        let said = String::from_utf8_lossy(if status == 0 {
            &output.stdout
        } else {
            &output.stderr
        });
        assert!(said.contains(says), "{arguments:?}: {said}");
    };
    check(&[], 2, "Usage: vramscope <COMMAND>");
    check(&["frobnicate"], 2, "unrecognized subcommand 'frobnicate'");
    check(&["serve", "--port", "many"], 2, "invalid value 'many'");
    check(&["--help"], 0, "serve");
    check(
        &["--version"],
        0,
        concat!("vramscope ", env!("CARGO_PKG_VERSION")),
    );
}

#[test]
fn bad_input_has_status_1_and_one_line() {
    let output = vramscope(&["serve", "no/such/file.pickle"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout.is_empty());
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        said,
        "vramscope: no/such/file.pickle: No such file or directory (os error 2)\n"
    );
}

#[test]
fn a_folder_without_recordings_is_bad_input() {
    let folder = tempfile::tempdir().unwrap();
    let output = vramscope(&["serve", folder.path().to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("no recordings in this folder"), "{said}");
}
