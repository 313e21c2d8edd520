//! The rule of the four cases.

use serde::{Deserialize, Serialize};

use super::figure::Figure;
use super::label::Field;
use super::message::{Device, Figures, Form};

/// Which case a message is.
///
/// | case | test | meaning |
/// |---|---|---|
/// | 0 | asked > the card, or what is allowed | can never fit |
/// | 1 | asked ≤ room | capacity was not the reason |
/// | 2 | asked > room + gap | real need: no allocator setting can help |
/// | 3 | otherwise | room exists, but not in one usable piece |
///
/// `room` is what the driver, or the fraction, would still give; `gap` is what is held and not
/// allocated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// The case, where the figures tell it.
    pub case: Option<u8>,
    /// The cases that the figures leave open; the one where there is one.
    pub candidates: Vec<u8>,
    /// The figures that the rule needs and the message lacks.
    pub missing: Vec<Field>,
    /// Why it cannot be told.
    pub undecided: Option<Undecided>,
}

/// Why a case cannot be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Undecided {
    /// A figure is missing.
    MissingFigure,
    /// The two sides of a test differ by less than the rounding of the figures.
    Rounding,
    /// A figure that the rule needs cannot be true.
    ImpossibleFigure,
    /// The rule rests on what PyTorch's CUDA allocator and its copies do before they fail; this
    /// device has an allocator of its own.
    OtherAllocator,
}

/// True, false, or not known.
type Truth = Option<bool>;

pub(super) fn verdict(
    figures: &Figures,
    form: Form,
    device: Device,
    above_exabyte: bool,
) -> Verdict {
    let missing = missing(figures, form, device);
    let impossible = exceeds(figures.get(Field::Free), figures.get(Field::Total)) == Some(true);
    let tests = if device == Device::Mps {
        Tests::of_mps(figures)
    } else {
        Tests::of(figures, form, impossible)
    };
    let candidates = if above_exabyte {
        vec![0]
    } else {
        tests.candidates()
    };
    let undecided = if matches!(device, Device::Mps | Device::Npu) {
        Some(Undecided::OtherAllocator)
    } else if !missing.is_empty() {
        Some(Undecided::MissingFigure)
    } else if candidates.len() == 1 {
        None
    } else if impossible {
        Some(Undecided::ImpossibleFigure)
    } else {
        Some(Undecided::Rounding)
    };
    let case = match (undecided, candidates.as_slice()) {
        (None, &[case]) => Some(case),
        _ => None,
    };
    Verdict {
        case,
        candidates,
        missing,
        undecided,
    }
}

/// The figures that the rule would need.
fn missing(figures: &Figures, form: Form, device: Device) -> Vec<Field> {
    let gap: &[Field] = match form {
        Form::A => &[Field::Cached],
        Form::B => &[Field::Allocated, Field::ReservedTotal],
        Form::C | Form::D | Form::Other => &[Field::Allocated, Field::ReservedUnallocated],
        Form::Mps => &[Field::ReservedUnallocated],
    };
    let others: &[Field] = if device == Device::Mps {
        &[Field::Tried, Field::Allocated, Field::Other, Field::Allowed]
    } else {
        &[Field::Tried, Field::Total, Field::Free]
    };
    let lacks = |field: &&Field| !figures.named.contains_key(*field);
    others.iter().chain(gap).filter(lacks).copied().collect()
}

/// The three tests of the rule.
struct Tests {
    never_fits: Truth,
    fits_room: Truth,
    needs_more: Truth,
}

impl Tests {
    /// `room` is the smaller of free and allowed − reserved; each test is made on both sides, so
    /// that a figure that stands on both sides of a difference does not count its rounding twice.
    fn of(figures: &Figures, form: Form, free_is_impossible: bool) -> Self {
        let get = |field| figures.get(field);
        let tried = get(Field::Tried);
        let free = get(Field::Free).filter(|_| !free_is_impossible);
        let above_card = exceeds(tried, get(Field::Total));
        let above_free = exceeds(tried, free);
        let above_free_and_gap = exceeds(tried, add(free, figures.gap()));
        let Some(allowed) = get(Field::Allowed) else {
            // From 2.1 on the fraction stands before the allocated figure: cut there, it may be lost.
            let cut = matches!(form, Form::C | Form::D) && get(Field::Allocated).is_none();
            let no_limit = (!cut).then_some(false);
            return Self {
                never_fits: or(above_card, no_limit),
                fits_room: not(or(above_free, no_limit)),
                needs_more: or(above_free_and_gap, no_limit),
            };
        };
        let left = figures.reserved().map(|reserved| allowed.minus(reserved));
        let left_and_gap = get(Field::Allocated).map(|allocated| allowed.minus(allocated));
        Self {
            never_fits: or(above_card, exceeds(tried, Some(allowed))),
            fits_room: not(or(above_free, above_limit(tried, left, above_free))),
            needs_more: or(above_free_and_gap, exceeds(tried, left_and_gap)),
        }
    }

    fn of_mps(figures: &Figures) -> Self {
        let (tried, allowed) = (figures.get(Field::Tried), figures.get(Field::Allowed));
        let held = add(figures.get(Field::Allocated), figures.get(Field::Other));
        let room = allowed.zip(held).map(|(allowed, held)| allowed.minus(held));
        Self {
            never_fits: exceeds(tried, allowed),
            fits_room: not(exceeds(tried, room)),
            needs_more: None,
        }
    }

    fn candidates(&self) -> Vec<u8> {
        let branches = [
            (0, self.never_fits),
            (1, self.fits_room),
            (2, self.needs_more),
            (3, Some(true)),
        ];
        let mut candidates = Vec::new();
        for (case, truth) in branches {
            if truth != Some(false) {
                candidates.push(case);
            }
            if truth == Some(true) {
                break;
            }
        }
        candidates
    }
}

/// Whether the request goes over a memory fraction. The allocator tests that itself, to the byte
/// (§4.6): where the card has room for the request and rounding hides on which side of the
/// fraction it falls, that it was refused says so.
fn above_limit(tried: Option<Figure>, left: Option<Figure>, above_free: Truth) -> Truth {
    let refused = left.is_some() && above_free == Some(false);
    exceeds(tried, left).or(refused.then_some(true))
}

fn exceeds(left: Option<Figure>, right: Option<Figure>) -> Truth {
    left?.exceeds(right?)
}

fn add(left: Option<Figure>, right: Option<Figure>) -> Option<Figure> {
    Some(left?.plus(right?))
}

fn not(truth: Truth) -> Truth {
    truth.map(|value| !value)
}

fn or(left: Truth, right: Truth) -> Truth {
    match (left, right) {
        (Some(true), _) | (_, Some(true)) => Some(true),
        (Some(false), Some(false)) => Some(false),
        _ => None,
    }
}
