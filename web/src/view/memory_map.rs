//! Where the memory is: each segment as a bar to scale, its blocks inside, in groups of pool and
//! stream, largest first. Segments that are longer than a row go on in the next one.

use shared::ids::{PoolId, PoolKind, StreamId};
use shared::model::BlockState;
use shared::query::{BlockView, MemoryMap, SegmentView, StreamView};

use super::map_scale::{HEADING, LEAST_WIDTH, MapScale, ROW_GAP, SEGMENT_GAP};
use super::streams::stream_number;
use crate::draw::scene::{Align, Meaning, Rect, Scene};
use crate::text::{self, format};

/// Two runs of pages farther apart are not of one reservation.
const SAME_RESERVATION_BYTES: u64 = 256 << 30;
/// Widest picture of a stretch without pages, which is not to scale.
const UNMAPPED_WIDTH: f32 = 28.0;

/// Where everything lies, for drawing and for the pointer.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct MapLayout {
    pub(crate) pieces: Vec<Piece>,
    pub(crate) headings: Vec<Heading>,
    /// Stretches without pages between two runs of one expandable segment.
    pub(crate) unmapped: Vec<Rect>,
    /// Height of all of it, which may be more than is on screen.
    pub(crate) height: f32,
    /// Pixels to a byte where they are largest.
    pub(crate) finest_px_per_byte: f64,
}

/// A part of a segment in one row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Piece {
    /// Index into [`MemoryMap::segments`].
    pub(crate) segment: usize,
    /// Bytes of the segment before this piece.
    pub(crate) from_bytes: u64,
    /// Bytes of it in this piece.
    pub(crate) size_bytes: u64,
    pub(crate) rect: Rect,
    px_per_byte: f64,
}

/// The line above a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Group {
    pub(crate) pool: PoolId,
    pub(crate) kind: PoolKind,
    pub(crate) stream: StreamId,
    pub(crate) segments: u32,
    pub(crate) size_bytes: u64,
    /// Blocks that are drawn only as part of a run.
    pub(crate) too_small: u32,
}

/// A group and where its line is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Heading {
    pub(crate) y: f32,
    pub(crate) group: Group,
    /// How many times larger than the large pools it is drawn.
    pub(crate) magnified: f32,
}

/// What the pointer is over.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct MapHit {
    pub(crate) segment: usize,
    pub(crate) block: usize,
}

/// What stands out in a map.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Highlights {
    /// Address and bytes of what the step was about.
    pub(crate) step: Option<(u64, u64)>,
    pub(crate) selected: Option<(u64, u64)>,
    pub(crate) hovered: Option<(u64, u64)>,
}

/// The part of a layout that is on screen.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct MapWindow {
    /// Pixels above it.
    pub(crate) scroll: f32,
    pub(crate) height: f32,
}

/// Lays a map out over `width` pixels.
pub(crate) fn layout(
    map: &MemoryMap,
    streams: &[StreamView],
    width: f32,
    scale: MapScale,
) -> MapLayout {
    let mut flow = Flow {
        map,
        width,
        scale,
        px_per_byte: scale.px_per_byte,
        y: 0.0,
        layout: MapLayout::default(),
    };
    for (group, segments) in groups(map, streams) {
        flow.group(group, &segments);
    }
    let mut layout = flow.layout;
    layout.height = flow.y;
    layout
}

/// The groups in the order in which they are shown, each with its segments.
fn groups(map: &MemoryMap, streams: &[StreamView]) -> Vec<(Group, Vec<usize>)> {
    let key = |segment: &SegmentView| {
        let is_small = segment.kind == PoolKind::Small;
        (
            segment.pool,
            is_small,
            stream_number(streams, segment.stream),
        )
    };
    let mut order: Vec<usize> = (0..map.segments.len()).collect();
    order.sort_by_key(|&index| {
        let segment = &map.segments[index];
        // Runs of pages stay in the order of their addresses: their neighbours mean something.
        let size = if segment.expandable {
            0
        } else {
            segment.size_bytes
        };
        (key(segment), std::cmp::Reverse(size), segment.address)
    });
    let mut groups: Vec<(Group, Vec<usize>)> = Vec::new();
    for index in order {
        let segment = &map.segments[index];
        match groups.last_mut() {
            Some((group, members)) if key(&map.segments[members[0]]) == key(segment) => {
                group.segments += 1;
                group.size_bytes += segment.size_bytes;
                group.too_small += too_small(segment);
                members.push(index);
            }
            _ => {
                let group = Group {
                    pool: segment.pool,
                    kind: segment.kind,
                    stream: segment.stream,
                    segments: 1,
                    size_bytes: segment.size_bytes,
                    too_small: too_small(segment),
                };
                groups.push((group, vec![index]));
            }
        }
    }
    groups
}

/// How many blocks of a segment come only as part of a run.
fn too_small(segment: &SegmentView) -> u32 {
    let runs = segment.blocks.iter().filter(|block| block.count > 1);
    runs.map(|run| run.count).sum()
}

/// Fills rows from left to right.
struct Flow<'a> {
    map: &'a MemoryMap,
    width: f32,
    scale: MapScale,
    /// Of the group that is being placed.
    px_per_byte: f64,
    y: f32,
    layout: MapLayout,
}

impl Flow<'_> {
    fn group(&mut self, group: Group, segments: &[usize]) {
        self.px_per_byte = match group.kind {
            PoolKind::Large => self.scale.px_per_byte,
            PoolKind::Small => self.scale.small_px_per_byte(group.size_bytes),
        };
        let finest = self.layout.finest_px_per_byte.max(self.px_per_byte);
        self.layout.finest_px_per_byte = finest;
        self.layout.headings.push(Heading {
            y: self.y + HEADING / 2.0,
            group,
            magnified: (self.px_per_byte / self.scale.px_per_byte) as f32,
        });
        self.y += HEADING;
        let mut x = 0.0;
        let mut before: Option<&SegmentView> = None;
        for &index in segments {
            let segment = &self.map.segments[index];
            if let Some(gap) = before.and_then(|before| unmapped_between(before, segment)) {
                let wide = (gap as f64 * self.px_per_byte) as f32;
                let wide = wide.clamp(6.0, UNMAPPED_WIDTH);
                if x + wide + SEGMENT_GAP < self.width {
                    self.layout.unmapped.push(self.bar(x, wide));
                    x += wide + SEGMENT_GAP;
                }
            }
            x = self.segment(index, x);
            before = Some(segment);
        }
        self.y += self.scale.row_height + ROW_GAP;
    }

    /// Places a segment behind `x`, in a new row where it does not fit; returns where the next
    /// one may begin.
    fn segment(&mut self, index: usize, x: f32) -> f32 {
        let size_bytes = self.map.segments[index].size_bytes;
        let whole = (size_bytes as f64 * self.px_per_byte) as f32;
        let whole = whole.max(LEAST_WIDTH);
        let mut x = x;
        if x > 0.0 && x + whole > self.width + 0.5 {
            self.new_row();
            x = 0.0;
        }
        let row_bytes = (f64::from(self.width) / self.px_per_byte) as u64;
        let mut from_bytes = 0;
        loop {
            let left_bytes = size_bytes - from_bytes;
            let size = left_bytes.min(row_bytes.max(1));
            let wide = ((size as f64 * self.px_per_byte) as f32).max(LEAST_WIDTH);
            let rect = self.bar(x, wide);
            self.layout.pieces.push(Piece {
                segment: index,
                from_bytes,
                size_bytes: size,
                rect,
                px_per_byte: self.px_per_byte,
            });
            from_bytes += size;
            x += wide + SEGMENT_GAP;
            if from_bytes >= size_bytes {
                return x;
            }
            self.new_row();
            x = 0.0;
        }
    }

    fn new_row(&mut self) {
        self.y += self.scale.row_height + ROW_GAP;
    }

    fn bar(&self, x: f32, width: f32) -> Rect {
        Rect {
            x,
            y: self.y,
            width,
            height: self.scale.row_height,
        }
    }
}

/// Bytes without pages between two neighbouring runs of one expandable segment.
fn unmapped_between(before: &SegmentView, after: &SegmentView) -> Option<u64> {
    if !before.expandable || !after.expandable {
        return None;
    }
    let end = before.address.checked_add(before.size_bytes)?;
    let gap = after.address.checked_sub(end)?;
    (gap > 0 && gap < SAME_RESERVATION_BYTES).then_some(gap)
}

/// How a block looks.
pub(crate) fn meaning(block: &BlockView) -> Meaning {
    match block.state {
        BlockState::Allocated if block.before => Meaning::BeforeRecording,
        BlockState::Allocated => Meaning::Allocated,
        BlockState::PendingFree => Meaning::Pending,
        BlockState::Cached if block.pinned => Meaning::CachedPinned,
        BlockState::Cached => Meaning::CachedReturnable,
    }
}

impl MapLayout {
    /// The picture of what the window shows.
    pub(crate) fn scene(
        &self,
        map: &MemoryMap,
        streams: &[StreamView],
        window: MapWindow,
        highlights: &Highlights,
    ) -> Scene {
        let MapWindow { scroll, height } = window;
        let mut scene = Scene::default();
        let is_visible = |rect: &Rect| rect.bottom() > scroll && rect.y < scroll + height;
        for heading in &self.headings {
            draw_heading(
                &mut scene,
                heading,
                stream_number(streams, heading.group.stream),
                scroll,
            );
        }
        for rect in self.unmapped.iter().filter(|rect| is_visible(rect)) {
            scene.edge(
                Rect {
                    y: rect.y - scroll,
                    ..*rect
                },
                Meaning::Unmapped,
                1.0,
            );
        }
        for piece in self.pieces.iter().filter(|piece| is_visible(&piece.rect)) {
            let rect = Rect {
                y: piece.rect.y - scroll,
                ..piece.rect
            };
            self.draw_piece(
                &mut scene,
                &Piece { rect, ..*piece },
                &map.segments[piece.segment],
            );
        }
        let outlines = [
            (highlights.hovered, Meaning::Hovered, 1.0),
            (highlights.step, Meaning::Selected, 2.0),
            (highlights.selected, Meaning::Hovered, 2.0),
        ];
        for (range, meaning, line_width) in outlines {
            for rect in range
                .into_iter()
                .flat_map(|range| self.rects_of(map, range))
            {
                let rect = Rect {
                    y: rect.y - scroll,
                    ..rect
                };
                scene.edge(rect.grown(line_width + 0.5), meaning, line_width);
            }
        }
        scene
    }

    fn draw_piece(&self, scene: &mut Scene, piece: &Piece, segment: &SegmentView) {
        let first = segment
            .blocks
            .partition_point(|block| block.offset_bytes + block.size_bytes <= piece.from_bytes);
        let end_bytes = piece.from_bytes + piece.size_bytes;
        for block in &segment.blocks[first..] {
            if block.offset_bytes >= end_bytes {
                break;
            }
            draw_block(
                scene,
                block,
                self.part(piece, block.offset_bytes, block.size_bytes),
            );
        }
        scene.edge(piece.rect, Meaning::CachedReturnable, 1.0);
    }

    /// The rectangle of `size_bytes` from `offset_bytes` on, as far as it lies in the piece.
    fn part(&self, piece: &Piece, offset_bytes: u64, size_bytes: u64) -> Rect {
        let px = |bytes: u64| (bytes as f64 * piece.px_per_byte) as f32;
        let from = offset_bytes.max(piece.from_bytes) - piece.from_bytes;
        let end = (offset_bytes + size_bytes).min(piece.from_bytes + piece.size_bytes);
        let end = end.saturating_sub(piece.from_bytes).max(from);
        let x = (piece.rect.x + px(from)).min(piece.rect.right());
        let right = (piece.rect.x + px(end)).min(piece.rect.right());
        Rect {
            x,
            y: piece.rect.y,
            width: right - x,
            height: piece.rect.height,
        }
    }

    /// Where a range of addresses lies; more than one rectangle where its segment is broken.
    fn rects_of(&self, map: &MemoryMap, range: (u64, u64)) -> Vec<Rect> {
        let (address, size_bytes) = range;
        let holds = |segment: &SegmentView| {
            address >= segment.address && address - segment.address < segment.size_bytes
        };
        let Some(index) = map.segments.iter().position(holds) else {
            return Vec::new();
        };
        let offset = address - map.segments[index].address;
        let of_segment = self.pieces.iter().filter(|piece| piece.segment == index);
        of_segment
            .filter(|piece| {
                offset < piece.from_bytes + piece.size_bytes
                    && offset + size_bytes > piece.from_bytes
            })
            .map(|piece| self.part(piece, offset, size_bytes))
            .collect()
    }

    /// The block under a point (in the layout's own coordinates, scrolling undone).
    pub(crate) fn hit(&self, map: &MemoryMap, x: f32, y: f32) -> Option<MapHit> {
        let piece = self.pieces.iter().find(|piece| piece.rect.contains(x, y))?;
        let segment = &map.segments[piece.segment];
        let offset = f64::from(x - piece.rect.x) / piece.px_per_byte;
        let offset = piece.from_bytes + (offset as u64).min(piece.size_bytes.saturating_sub(1));
        let block = segment
            .blocks
            .partition_point(|block| block.offset_bytes <= offset);
        Some(MapHit {
            segment: piece.segment,
            block: block.checked_sub(1)?,
        })
    }
}

fn draw_block(scene: &mut Scene, block: &BlockView, rect: Rect) {
    if block.count > 1 {
        return draw_run(scene, block, rect);
    }
    let meaning = meaning(block);
    scene.fill(rect, meaning);
    let wasted = block.size_bytes.saturating_sub(block.requested_bytes);
    let wasted_px = rect.width * (wasted as f64 / block.size_bytes.max(1) as f64) as f32;
    if wasted_px >= 0.7 && block.state != BlockState::Cached {
        let x = rect.right() - wasted_px;
        scene.fill(
            Rect {
                x,
                width: wasted_px,
                ..rect
            },
            Meaning::Waste,
        );
    }
    if rect.width >= 4.0 {
        // A thin line tells neighbours of one state apart.
        let line = Rect {
            x: rect.right() - 1.0,
            width: 1.0,
            ..rect
        };
        scene.fill(
            line,
            if block.state == BlockState::Cached {
                Meaning::CachedEdge
            } else {
                Meaning::Panel
            },
        );
    }
    let label = format::size(block.size_bytes);
    if rect.height >= 13.0 && rect.width >= label.len() as f32 * 6.4 + 8.0 {
        let ink = match meaning {
            Meaning::Allocated | Meaning::BeforeRecording => Meaning::InkOnAllocated,
            Meaning::Pending => Meaning::InkOnPending,
            _ => Meaning::InkSecond,
        };
        let middle = (rect.x + rect.width / 2.0, rect.y + rect.height / 2.0);
        scene.text(middle, Align::Center, ink, label);
    }
}

/// Many blocks in too little room: their live share rises from below.
fn draw_run(scene: &mut Scene, run: &BlockView, rect: Rect) {
    let share = run.active_bytes as f64 / run.size_bytes.max(1) as f64;
    let is_mixed = run.active_bytes > 0 && run.active_bytes < run.size_bytes;
    scene.fill(
        rect,
        if is_mixed {
            Meaning::CachedPinned
        } else {
            meaning(run)
        },
    );
    if is_mixed {
        let height = (rect.height * share as f32).clamp(1.0, rect.height - 1.0);
        let live = Rect {
            y: rect.bottom() - height,
            height,
            ..rect
        };
        scene.fill(live, Meaning::Allocated);
    }
}

fn draw_heading(scene: &mut Scene, heading: &Heading, stream: u32, scroll: f32) {
    let group = heading.group;
    let name = match (group.pool, group.kind) {
        (PoolId::DEFAULT, PoolKind::Large) => text::map_large_pool(stream),
        (PoolId::DEFAULT, PoolKind::Small) => text::map_small_pool(stream),
        (PoolId(a, b), PoolKind::Large) => text::map_private_large(format!("({a}, {b})"), stream),
        (PoolId(a, b), PoolKind::Small) => text::map_private_small(format!("({a}, {b})"), stream),
    };
    let y = heading.y - scroll;
    let mut figures = text::map_group(group.segments, format::size(group.size_bytes));
    if heading.magnified >= 1.5 {
        figures.push_str(&text::map_magnified(format!("{:.0}", heading.magnified)));
    }
    if group.too_small > 0 {
        figures.push_str(&text::map_too_small(group.too_small));
    }
    let indent = 18.0
        + name
            .chars()
            .map(|letter| if letter.is_ascii() { 6.6 } else { 12.0 })
            .sum::<f32>();
    scene.bold_text((0.0, y), Meaning::InkSecond, name);
    scene.text((indent, y), Align::Left, Meaning::InkSecond, figures);
}

#[cfg(test)]
mod tests;
