//! `vramscope serve`, asked over a socket.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A server on a port of its own, ended with the test.
struct Server {
    process: Child,
    port: u16,
}

impl Server {
    fn start(arguments: &[&Path]) -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_vramscope"))
            .args(["serve", "--port", "0"])
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let address = lines
            .find_map(|line| Some(line.ok()?.split_once("http://127.0.0.1:")?.1.to_owned()))
            .expect("the server says where it is");
        let port = address.split(' ').next().unwrap().parse().unwrap();
        Self { process, port }
    }

    /// The whole answer, head and body.
    fn ask(&self, method: &str, path: &str, host: &str) -> String {
        let mut socket = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        write!(
            socket,
            "{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
        )
        .unwrap();
        let mut answer = Vec::new();
        socket.read_to_end(&mut answer).unwrap();
        String::from_utf8_lossy(&answer).into_owned()
    }

    fn get(&self, path: &str) -> String {
        self.ask("GET", path, &format!("127.0.0.1:{}", self.port))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn status(answer: &str) -> &str {
    answer.split(' ').nth(1).unwrap_or_default()
}

fn body(answer: &str) -> &str {
    answer.split_once("\r\n\r\n").unwrap().1
}

#[test]
fn named_files_and_folders_are_listed_and_served() {
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("run 1");
    std::fs::create_dir(&inside).unwrap();
    std::fs::write(inside.join("rank0.pickle.gz"), b"first").unwrap();
    std::fs::write(inside.join("rank1.pickle.gz"), b"second").unwrap();
    std::fs::write(inside.join("log.txt"), b"not a recording").unwrap();
    let single = folder.path().join("\u{663e}\u{5b58}.bin");
    std::fs::write(&single, b"\x80\x04third").unwrap();

    let server = Server::start(&[&inside, &single]);
    let list = server.get("/recordings.json");
    assert_eq!(status(&list), "200");
    let list: serde_json::Value = serde_json::from_str(body(&list)).unwrap();
    assert_eq!(
        list,
        serde_json::json!([
            {"name": "rank0.pickle.gz", "size_bytes": 5, "url": "recordings/0/rank0.pickle.gz"},
            {"name": "rank1.pickle.gz", "size_bytes": 6, "url": "recordings/1/rank1.pickle.gz"},
            {
                "name": "\u{663e}\u{5b58}.bin",
                "size_bytes": 7,
                "url": "recordings/2/%E6%98%BE%E5%AD%98.bin",
            },
        ])
    );
    assert_eq!(body(&server.get("/recordings/1/rank1.pickle.gz")), "second");
    assert!(
        server
            .get("/recordings/2/%E6%98%BE%E5%AD%98.bin")
            .ends_with("third")
    );
    assert_eq!(status(&server.get("/recordings/3/rank3.pickle")), "404");
    assert_eq!(
        status(&server.get("/recordings/0/../../../etc/passwd")),
        "404"
    );
}

#[test]
fn other_hosts_and_other_methods_are_refused() {
    let server = Server::start(&[]);
    let port = server.port;
    let as_host = |host: &str| {
        let answer = server.ask("GET", "/recordings.json", host);
        status(&answer).to_owned()
    };
    assert_eq!(as_host(&format!("127.0.0.1:{port}")), "200");
    assert_eq!(as_host(&format!("localhost:{port}")), "200");
    assert_eq!(as_host("127.0.0.1"), "421");
    assert_eq!(as_host(&format!("evil.example:{port}")), "421");
    assert_eq!(as_host(&format!("127.0.0.1.evil.example:{port}")), "421");
    let answer = server.ask("POST", "/recordings.json", &format!("127.0.0.1:{port}"));
    assert_eq!(status(&answer), "405");
}

#[test]
fn every_answer_says_what_a_browser_may_do_with_it() {
    let server = Server::start(&[]);
    for path in ["/", "/recordings.json", "/no-such-file"] {
        let answer = server.get(path);
        for header in [
            "content-security-policy: default-src 'none'; script-src 'self' 'wasm-unsafe-eval';",
            "x-content-type-options: nosniff",
            "cross-origin-resource-policy: same-origin",
            "referrer-policy: no-referrer",
        ] {
            assert!(
                answer.contains(header),
                "{path}: {header} is missing in\n{answer}"
            );
        }
        assert!(!answer.contains("access-control-allow-origin"), "{answer}");
    }
}

#[test]
fn a_port_that_is_taken_is_said_and_another_one_chosen() {
    let first = Server::start(&[]);
    let mut second = Command::new(env!("CARGO_BIN_EXE_vramscope"))
        .args(["serve", "--port", &first.port.to_string()])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(second.stdout.take().unwrap())
        .lines()
        .map(Result::unwrap);
    let said = lines.next().unwrap();
    let address = lines.next().unwrap();
    second.kill().unwrap();
    second.wait().unwrap();
    assert_eq!(
        said,
        format!("Port {} is taken, so this is another.", first.port)
    );
    assert!(address.contains("http://127.0.0.1:"), "{address}");
    assert!(!address.contains(&format!(":{} ", first.port)), "{address}");
}
