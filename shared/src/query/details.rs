//! One block, one life, one stack.

use crate::ids::{LifeId, PoolId, StackId};
use crate::query::engine::Scope;
use crate::query::{BlockDetails, FrameView, LifeView, map};
use crate::replay::Run;
use crate::settings::Settings;
use crate::store::{Frame, Recording};

pub(super) fn block_at(scope: &Scope<'_>, address: u64) -> Option<BlockDetails> {
    let replay = &scope.device.replay;
    let (run, block) = scope.device.cursor.state().placed_at(replay, address)?;
    let position = run
        .blocks
        .iter()
        .position(|other| other.address == block.address)?;
    let number = |value: usize| u32::try_from(value).unwrap_or(u32::MAX);
    Some(BlockDetails {
        block: map::block_view(scope, &run, &block),
        segment: map::segment_view(&run),
        position: number(position),
        of: number(run.blocks.len()),
        life: block.life.and_then(|id| life(scope, id)),
        pinned_by: if block.life.is_none() {
            neighbours(&run, position)
        } else {
            Vec::new()
        },
    })
}

/// The live blocks next to a cached one.
fn neighbours(run: &Run, position: usize) -> Vec<LifeId> {
    let before = position.checked_sub(1);
    [before, Some(position + 1)]
        .into_iter()
        .flatten()
        .filter_map(|at| run.blocks.get(at)?.life)
        .collect()
}

pub(super) fn life(scope: &Scope<'_>, id: LifeId) -> Option<LifeView> {
    let replay = &scope.device.replay;
    let life = replay.life(id)?;
    let events = &scope.record.events;
    let span = life.span().and_then(|span| replay.span(span));
    let event = |at: Option<crate::ids::EventIndex>| at.and_then(|at| events.get(at));
    let (born, freed, ended) = (
        event(life.born()),
        event(life.free_requested()),
        event(life.ended()),
    );
    let stack = born.map_or_else(|| snapshot_stack(scope, life.address), |event| event.stack);
    let free_stack = freed.map(|event| event.stack).filter(|&free| free != stack);
    let stream = span.map(|span| span.stream);
    let any_event = born.or(freed).or(ended);
    Some(LifeView {
        life: id,
        address: life.address,
        requested_bytes: life.requested_bytes,
        rounded_bytes: map::rounded_bytes(
            replay.settings(),
            life.requested_bytes,
            life.given_bytes,
        ),
        given_bytes: life.given_bytes,
        inferred: replay.is_inferred(id),
        born: life.born(),
        free_requested: life.free_requested(),
        free_completed: life.ended(),
        times_us: [born, freed, ended].map(|event| event?.time_us),
        stream: scope.stream(
            stream
                .or(any_event.map(|event| event.stream))
                .unwrap_or_default(),
        ),
        pool: span.and_then(|span| span.pool).unwrap_or(PoolId::DEFAULT),
        kind: span.map_or_else(
            || Settings::pool_kind(replay.settings().round(life.requested_bytes)),
            |span| span.kind,
        ),
        frames: frames(scope.recording, stack),
        free_frames: free_stack.map_or_else(Vec::new, |stack| frames(scope.recording, stack)),
    })
}

/// Who holds a block that was alive before the record began, where the final snapshot says.
fn snapshot_stack(scope: &Scope<'_>, address: u64) -> StackId {
    let segments = &scope.record.segments;
    segments
        .iter()
        .flat_map(|segment| &segment.blocks)
        .find(|block| block.address == address)
        .map_or(StackId::default(), |block| block.stack)
}

pub(super) fn frames(recording: &Recording, stack: StackId) -> Vec<FrameView> {
    recording
        .stack_frames(stack)
        .map(|(_, frame)| frame_view(recording, frame))
        .collect()
}

pub(super) fn frame_view(recording: &Recording, frame: Frame) -> FrameView {
    let file = recording.texts.get(frame.file);
    FrameView {
        name: recording.texts.get(frame.name).to_owned(),
        file: file.to_owned(),
        line: frame.line,
        own: is_own(file),
    }
}

/// Whether a file is the user's own: Python, and not from an installed package, the standard
/// library or the interpreter itself.
fn is_own(file: &str) -> bool {
    let file = file.replace('\\', "/");
    let installed = ["/site-packages/", "/dist-packages/", "/lib/python"];
    let is_python = file.ends_with(".py") || file.ends_with(".ipynb") || file.contains("ipykernel");
    is_python
        && !file.starts_with("<frozen")
        && !file.starts_with("torch/")
        && !installed.iter().any(|part| file.contains(part))
}

#[cfg(test)]
mod tests {
    use super::is_own;

    #[test]
    fn own_code_is_told_from_packages() {
        for (file, own) in [
            ("/home/user/lab/train.py", true),
            ("train.py", true),
            ("/tmp/ipykernel_42/1234.py", true),
            (
                "/opt/venv/lib/python3.12/site-packages/torch/nn/modules/module.py",
                false,
            ),
            ("C:\\Python\\Lib\\site-packages\\torch\\_tensor.py", false),
            ("/usr/lib/python3.12/threading.py", false),
            ("<frozen importlib._bootstrap>", false),
            ("CUDACachingAllocator.cpp", false),
            ("??", false),
            ("", false),
        ] {
            assert_eq!(is_own(file), own, "{file}");
        }
    }
}
