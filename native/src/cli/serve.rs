//! `vramscope serve`: the app on this machine.

use std::io::ErrorKind;
use std::net::{Ipv4Addr, TcpListener};

use anyhow::{Context, Result};

use super::args::ServeArguments;
use crate::server;
use crate::server::guard::RequestLog;
use crate::server::recordings::Offered;

/// Serves until it is stopped.
pub(crate) fn run(arguments: &ServeArguments) -> Result<()> {
    let offered = Offered::find(&arguments.recordings)?;
    let listener = listen(arguments.port)?;
    let port = listener.local_addr()?.port();
    if !server::page::is_built() {
        eprintln!("{}", server::page::NOT_BUILT);
    }
    if port != arguments.port && arguments.port != 0 {
        println!("Port {} is taken, so this is another.", arguments.port);
    }
    if !offered.is_empty() {
        println!("Recordings offered on the start page: {}", offered.len());
    }
    println!("vramscope is at http://127.0.0.1:{port} (Ctrl+C stops it)");
    let log = if arguments.log_requests {
        RequestLog::On
    } else {
        RequestLog::Off
    };
    server::serve(listener, offered, log)
}

/// Listens on that port, or on any free one when it is taken.
fn listen(port: u16) -> Result<TcpListener> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port))
        .or_else(|error| match error.kind() {
            ErrorKind::AddrInUse => TcpListener::bind((Ipv4Addr::LOCALHOST, 0)),
            _ => Err(error),
        })
        .with_context(|| format!("cannot listen on 127.0.0.1:{port}"))
}
