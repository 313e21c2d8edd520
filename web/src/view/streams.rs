//! Short numbers for streams, whose handles are addresses.

use shared::ids::StreamId;
use shared::query::StreamView;

/// 0 for the default stream, and 1, 2, 3 … for the others in the order of the recording.
pub(crate) fn stream_number(streams: &[StreamView], stream: StreamId) -> u32 {
    let mut number = 0;
    for other in streams {
        if other.handle != 0 {
            number += 1;
        }
        if other.stream == stream {
            return if other.handle == 0 { 0 } else { number };
        }
    }
    stream.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_stream_is_0_wherever_it_stands() {
        let view = |stream, handle| StreamView {
            stream: StreamId(stream),
            handle,
        };
        let streams = [view(0, 0x55d0), view(1, 0), view(2, 0x77e0)];
        let numbers = [0, 1, 2].map(|stream| stream_number(&streams, StreamId(stream)));
        assert_eq!(numbers, [1, 0, 2]);
    }
}
