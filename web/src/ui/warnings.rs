//! What the reader and the replay could live with.

use shared::warning::{Place, Warning, WarningKind};
use yew::prelude::*;

use crate::session::SessionContext;
use crate::text::{self, format};

#[component]
pub(crate) fn WarningsButton() -> Html {
    let session = use_context::<SessionContext>().expect("App provides it");
    let Some(stage) = session.stage() else {
        return Html::default();
    };
    let warnings = &stage.overview.warnings;
    if warnings.is_empty() {
        return Html::default();
    }
    html! {
        <details class="warnings" id="warnings">
            <summary class="pill">{ text::warnings_count(warnings.len()) }</summary>
            <div class="popover">
                <h3>{ text::warnings_title() }</h3>
                <ul>{ for warnings.iter().map(|warning| html! { <li>{ wording(warning) }</li> }) }</ul>
            </div>
        </details>
    }
}

fn wording(warning: &Warning) -> String {
    text::warnings_row(
        warning.count,
        place(warning.first_at),
        sentence(warning.kind),
    )
}

fn place(place: Place) -> String {
    match place {
        Place::Recording => text::place_recording(),
        Place::Byte(offset) => text::place_byte(offset),
        Place::Event(device, event) => text::place_event(device.0, event.0),
        Place::Address(device, address) => text::place_address(format::address(address), device.0),
    }
}

fn sentence(kind: WarningKind) -> String {
    match kind {
        WarningKind::UnknownKey => text::warning_unknown_key(),
        WarningKind::UnknownAction => text::warning_unknown_action(),
        WarningKind::DerivedAddress => text::warning_derived_address(),
        WarningKind::NoEvents => text::warning_no_events(),
        WarningKind::Empty => text::warning_empty(),
        WarningKind::NoTimes => text::warning_no_times(),
        WarningKind::AliveBefore => text::warning_alive_before_recording(),
        WarningKind::Truncated => text::warning_truncated(),
        WarningKind::DamagedFrame => text::warning_damaged_frame(),
        WarningKind::MissingEvents => text::warning_missing_events(),
        WarningKind::UnalignedAddress => text::warning_unaligned_address(),
        WarningKind::OutsideSegments => text::warning_outside_segments(),
        WarningKind::Overlap => text::warning_overlap(),
        WarningKind::UnmatchedFree => text::warning_unmatched_free(),
        WarningKind::UnmatchedSegment => text::warning_unmatched_segment(),
        WarningKind::SegmentSum => text::warning_segment_sum(),
        WarningKind::StatedSum => text::warning_stated_sum(),
        WarningKind::FinalMismatch => text::warning_final_mismatch(),
        WarningKind::InferredSize => text::warning_inferred_size(),
        WarningKind::LongText => text::warning_long_text(),
        WarningKind::HostMemory => text::warning_host_memory(),
    }
}
