//! The report for people.

use std::fmt::Write;

use shared::units::size_text;

use super::{DeviceReport, Report};

/// The report as lines, without a newline at the end.
pub(super) fn text(report: &Report) -> String {
    let mut lines = String::new();
    for device in &report.devices {
        write_device(&mut lines, device);
    }
    if report.devices.is_empty() {
        lines.push_str("no device has events or segments\n");
    }
    if let Some(bytes) = report.card.total_bytes {
        row(&mut lines, "card", &size_text(bytes));
    }
    if let Some(bytes) = report.card.limit_bytes {
        row(&mut lines, "limit", &size_text(bytes));
    }
    if let Some(version) = &report.torch_version {
        row(&mut lines, "PyTorch", version);
    }
    if let Some(settings) = &report.settings {
        let text = settings
            .get("PYTORCH_CUDA_ALLOC_CONF")
            .and_then(|text| text.as_str());
        let text = text.filter(|text| !text.is_empty());
        row(&mut lines, "settings", text.unwrap_or("defaults"));
    }
    if report.marks > 0 {
        row(&mut lines, "marks", &report.marks.to_string());
    }
    if report.annotations > 0 {
        row(&mut lines, "annotations", &report.annotations.to_string());
    }
    for warning in &report.warnings {
        let first = warning
            .first_at
            .as_ref()
            .map_or(String::new(), |at| format!(", first at {at}"));
        let _ = writeln!(
            lines,
            "warning: {} ({}{first})",
            warning.text, warning.count
        );
    }
    lines.truncate(lines.trim_end().len());
    lines
}

fn write_device(lines: &mut String, device: &DeviceReport) {
    let _ = writeln!(lines, "device {}", device.device);
    row(lines, "events", &device.events.to_string());
    for (action, count) in &device.actions {
        row(lines, &format!("  {action}"), &count.to_string());
    }
    if let (Some(first), Some(last)) = (device.first_time_us, device.last_time_us) {
        let seconds = (last - first) as f64 / 1e6;
        row(lines, "seconds", &format!("{seconds:.3}"));
    }
    row(lines, "segments", &device.segments.to_string());
    row(lines, "blocks", &device.blocks.to_string());
    row(lines, "allocated", &size_text(device.allocated_bytes));
    row(lines, "reserved", &size_text(device.reserved_bytes));
    row(
        lines,
        "peak allocated",
        &size_text(device.peak_allocated_bytes),
    );
    row(
        lines,
        "peak requested",
        &size_text(device.peak_requested_bytes),
    );
    row(
        lines,
        "peak reserved",
        &size_text(device.peak_reserved_bytes),
    );
    if device.alive_before_recording_blocks > 0 {
        let bytes = size_text(device.alive_before_recording_bytes);
        let blocks = device.alive_before_recording_blocks;
        row(
            lines,
            "alive before",
            &format!("{bytes} in {blocks} blocks"),
        );
    }
}

fn row(lines: &mut String, name: &str, value: &str) {
    let _ = writeln!(lines, "  {name:<18} {value}");
}
