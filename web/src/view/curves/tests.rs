use shared::query::CurveSeries;
use shared::units::GIB;

use super::*;
use crate::draw::scene::Shape;

fn curves() -> Curves {
    let series = |values: [u64; 4]| CurveSeries {
        min: values.to_vec(),
        max: values.to_vec(),
        last: values.to_vec(),
    };
    let zero = series([0; 4]);
    let allocated = series([GIB, 2 * GIB, 3 * GIB, GIB]);
    let reserved = series([4 * GIB; 4]);
    Curves {
        series: vec![
            allocated.clone(),
            zero.clone(),
            allocated,
            reserved,
            zero.clone(),
            zero,
        ],
        segment_allocs: vec![1, 0, 0, 0],
        segment_frees: vec![0, 0, 0, 2],
        empty_caches: vec![0, 0, 0, 1],
        ooms: vec![0; 4],
        first_events: vec![0, 10, 20, 30, 40],
    }
}

fn view(curves: &Curves, span: Span) -> CurvesView<'_> {
    let whole = Span {
        first: 0.0,
        last: 40.0,
    };
    CurvesView {
        layout: CurvesLayout::new(464.0, 200.0, false, false),
        axis: Axis::Events,
        span,
        whole,
        near: Some(Asked {
            curves,
            span: whole,
        }),
        far: Some(Asked {
            curves,
            span: whole,
        }),
        peak_bytes: 4 * GIB,
        card_bytes: None,
        cursor: Some(20.5),
        hovered: None,
        marks: &[],
        regions: &[],
    }
}

fn area_of(scene: &Scene, wanted: Meaning) -> Vec<(f32, f32)> {
    let mut areas = scene.shapes.iter().filter_map(|shape| match shape {
        Shape::Area { points, meaning } if *meaning == wanted => Some(points.clone()),
        _ => None,
    });
    areas.next().unwrap_or_default()
}

#[test]
fn a_column_shows_its_highest_value() {
    let curves = curves();
    let view = view(
        &curves,
        Span {
            first: 0.0,
            last: 40.0,
        },
    );
    let plot = view.layout.plot;
    let points = area_of(&view.scene(), Meaning::Allocated);
    let highest = points.iter().map(|point| point.1).fold(f32::MAX, f32::min);
    let top = view.top_bytes() as f64;
    let expected = plot.bottom() - (3.0 * GIB as f64 / top) as f32 * plot.height;
    assert!(
        (highest - expected).abs() < 0.01,
        "{highest} is not {expected}"
    );
}

#[test]
fn the_last_answer_moves_with_the_zoom_until_the_next_comes() {
    let curves = curves();
    let view = view(
        &curves,
        Span {
            first: 20.0,
            last: 30.0,
        },
    );
    let plot = view.layout.plot;
    let points = area_of(&view.scene(), Meaning::Allocated);
    // Only the third column is in sight, and it fills the plot.
    let xs: Vec<f32> = points.iter().map(|point| point.0).collect();
    assert_eq!(xs, [plot.x, plot.right(), plot.right(), plot.x]);
}

#[test]
fn the_lane_says_what_the_driver_did() {
    let curves = curves();
    let scene = view(
        &curves,
        Span {
            first: 0.0,
            last: 40.0,
        },
    )
    .scene();
    let glyphs: Vec<Glyph> = scene
        .shapes
        .iter()
        .filter_map(|shape| match shape {
            Shape::Glyph { glyph, .. } => Some(*glyph),
            _ => None,
        })
        .collect();
    assert_eq!(
        glyphs,
        [Glyph::Arrived, Glyph::Returned, Glyph::Emptied, Glyph::Dot]
    );
}

#[test]
fn the_card_shows_where_the_record_comes_near_it() {
    let curves = curves();
    let mut view = view(
        &curves,
        Span {
            first: 0.0,
            last: 40.0,
        },
    );
    assert_eq!(view.top_bytes(), 4 * GIB + GIB / 4);
    view.card_bytes = Some(80 * GIB);
    assert_eq!(view.top_bytes(), 4 * GIB + GIB / 4, "far from the card");
    view.card_bytes = Some(5 * GIB);
    assert_eq!(view.top_bytes(), 5 * GIB + GIB / 8);
}

#[test]
fn long_texts_are_shortened() {
    assert_eq!(shortened("step 1", 100.0), "step 1");
    assert_eq!(shortened("empty_cache while", 40.0), "empty…");
}
