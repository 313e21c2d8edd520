//! Playing: which event comes next, and when.

use shared::query::JumpKind;

/// Events to a second at speed 1.
const EVENTS_PER_SECOND: f64 = 20.0;

/// The speeds offered, as multiples.
pub(crate) const SPEEDS: [f64; 9] = [0.1, 0.5, 1.0, 2.0, 5.0, 20.0, 100.0, 500.0, 2_000.0];

/// The moment shown and how it moves.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Transport {
    /// The state after this event is shown.
    pub(crate) at: u32,
    /// Events of the device.
    pub(crate) events: u32,
    pub(crate) is_playing: bool,
    /// Multiple of the base speed.
    pub(crate) speed: f64,
    /// What the jump buttons look for.
    pub(crate) jump: JumpKind,
    /// Part of an event that has passed.
    carry: f64,
}

impl Transport {
    /// At the first event.
    pub(crate) fn new(events: u32) -> Transport {
        Transport {
            at: 0,
            events,
            is_playing: false,
            speed: 1.0,
            jump: JumpKind::Segment,
            carry: 0.0,
        }
    }

    /// Index of the last event; 0 when there is none.
    pub(crate) fn last(&self) -> u32 {
        self.events.saturating_sub(1)
    }

    /// Goes to an event, at most to the last.
    pub(crate) fn seek(&mut self, at: u32) {
        self.at = at.min(self.last());
        self.carry = 0.0;
    }

    /// Goes `by` events forward, or back.
    pub(crate) fn step(&mut self, by: i64) {
        let at = (i64::from(self.at) + by).clamp(0, i64::from(self.last()));
        // Clamped to the range of a u32.
        self.seek(at as u32);
    }

    /// Starts, from the beginning when it stands at the end, or pauses.
    pub(crate) fn toggle(&mut self) {
        self.is_playing = !self.is_playing;
        if self.is_playing && self.at == self.last() {
            self.seek(0);
        }
    }

    /// Lets time pass while playing; stops at the end. Says whether the moment changed.
    pub(crate) fn advance(&mut self, passed_ms: f64) -> bool {
        if !self.is_playing {
            return false;
        }
        // After a pause of the page, playing goes on where it was.
        let passed_s = passed_ms.clamp(0.0, 250.0) / 1000.0;
        self.carry += passed_s * self.speed * EVENTS_PER_SECOND;
        let whole = self.carry.floor();
        let before = self.at;
        // At most 2,000 x 20 events a second, a quarter of a second at most.
        self.at = self.at.saturating_add(whole as u32).min(self.last());
        self.carry -= whole;
        if self.at == self.last() {
            self.is_playing = false;
            self.carry = 0.0;
        }
        self.at != before
    }

    /// Takes the next speed up, or down.
    pub(crate) fn change_speed(&mut self, is_faster: bool) {
        let next = if is_faster {
            SPEEDS.into_iter().find(|speed| *speed > self.speed)
        } else {
            SPEEDS.into_iter().rev().find(|speed| *speed < self.speed)
        };
        self.speed = next.unwrap_or(self.speed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stepping_stays_within_the_record() {
        let mut transport = Transport::new(10);
        transport.step(-1);
        assert_eq!(transport.at, 0);
        transport.step(4);
        assert_eq!(transport.at, 4);
        transport.step(100);
        assert_eq!(transport.at, 9);
        transport.seek(77);
        assert_eq!(transport.at, 9);
        let mut empty = Transport::new(0);
        empty.step(1);
        assert_eq!(empty.at, 0);
    }

    #[test]
    fn playing_passes_events_by_time_and_stops_at_the_end() {
        let mut transport = Transport::new(10);
        assert!(!transport.advance(100.0), "it does not play yet");
        transport.toggle();
        assert!(!transport.advance(25.0), "half an event");
        assert!(transport.advance(25.0), "the other half");
        assert_eq!(transport.at, 1);
        transport.speed = 20.0;
        assert!(transport.advance(100.0));
        assert_eq!((transport.at, transport.is_playing), (9, false));
        transport.toggle();
        assert_eq!((transport.at, transport.is_playing), (0, true));
    }

    #[test]
    fn speeds_go_up_and_down_in_their_steps() {
        let mut transport = Transport::new(10);
        transport.change_speed(true);
        assert_eq!(transport.speed, 2.0);
        transport.change_speed(false);
        transport.change_speed(false);
        assert_eq!(transport.speed, 0.5);
    }
}
