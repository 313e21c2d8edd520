//! The server of the page: embedded files, and recordings named on the command line. It answers
//! only this machine, and keeps no state.
//!
//! | path | what |
//! |---|---|
//! | `/recordings.json` | the recordings that were named: [`recordings::Offered`] |
//! | `/recordings/NUMBER/NAME` | the bytes of one of them |
//! | any other | a file of the page: [`page`] |

pub(crate) mod guard;
pub(crate) mod page;
pub(crate) mod recordings;

use std::net::TcpListener;
use std::sync::Arc;

use anyhow::Result;
use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::get;

use guard::{Guard, RequestLog};
use recordings::Offered;

/// Serves on that socket until Ctrl+C.
pub(crate) fn serve(listener: TcpListener, offered: Offered, log: RequestLog) -> Result<()> {
    listener.set_nonblocking(true)?;
    let guard = Guard::new(listener.local_addr()?.port(), log);
    let routes = Router::new()
        .route("/recordings.json", get(recordings::list))
        .route("/recordings/{number}/{name}", get(recordings::bytes))
        .fallback(page::file)
        .with_state(Arc::new(offered))
        .layer(from_fn_with_state(Arc::new(guard), guard::check));
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::from_std(listener)?;
        tokio::select! {
            served = axum::serve(listener, routes) => served?,
            stopped = tokio::signal::ctrl_c() => stopped?,
        }
        Ok(())
    })
}
