//! The layout of a flow graph in a picture.
//!
//! **Input**: a program and the [`Annotations`] of a form. **Output**: a [`Picture`]: frames (functions and threads), the boxes of their
//! blocks, and edges as lines of horizontal and vertical parts.
//!
//! **Algorithm**: frames are placed side by side, and the blocks of a frame one below the other, in the order of the text form.
//! So the space beside every box and above and below every frame is free.
//! 1. An edge to the next block is straight. Other edges within a frame run beside the boxes, forward edges on the right and
//!    backward edges on the left, in lanes such that two edges of one lane do not overlap ([`routes`]).
//! 2. An edge between frames leaves its line to the right, into a lane beside the frame. It runs above all frames (to a thread or
//!    a called function) or below all of them (from the end of a thread to a join, from a write to a pi function).
//!
//! So no edge passes through a box, and time and size are linear in the program and its edges, except for the number of lanes.
//!
//! **Limits**: the locks are those that a function acquires itself, on all paths. If there are more than [`PI_EDGES`] edges to pi
//! functions, none is drawn; [`Picture::omitted`] is their number.

mod content;
mod locks;
mod routes;

pub use content::{Line, LineKind};

use super::json::program_data;
use super::print::Annotations;
use super::{FunctionId, Program};
use content::{Column, columns};
use cssame_source::SourceMap;

/// Edges to pi functions that are drawn at most.
pub const PI_EDGES: usize = 400;

/// Lines of text that are drawn at most.
pub const LINES: usize = 20_000;

/// A place, in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    /// From the left.
    pub x: i32,
    /// From the top.
    pub y: i32,
}

/// A rectangle, in pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rectangle {
    /// Its left side.
    pub x: i32,
    /// Its upper side.
    pub y: i32,
    /// Its width.
    pub width: i32,
    /// Its height.
    pub height: i32,
}

/// A function or a thread.
#[derive(Clone, Debug)]
pub struct Frame {
    /// Where it stands.
    pub rectangle: Rectangle,
    /// `T1 (thread)`
    pub title: String,
}

/// A block.
#[derive(Clone, Debug)]
pub struct BlockBox {
    /// Where it stands.
    pub rectangle: Rectangle,
    /// What stands in it, line by line.
    pub lines: Vec<Line>,
}

/// What an edge stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EdgeKind {
    /// What comes next.
    Flow,
    /// A call, a new thread, or its end.
    Thread,
    /// A write that a pi function may choose.
    Pi,
}

/// An edge.
#[derive(Clone, Debug)]
pub struct Edge {
    /// What it stands for.
    pub kind: EdgeKind,
    /// Its corners, from its begin to its tip.
    pub points: Vec<Point>,
    /// What it says.
    pub title: String,
}

/// A flow graph with a place for all of it.
#[derive(Clone, Debug, Default)]
pub struct Picture {
    /// Functions and threads.
    pub frames: Vec<Frame>,
    /// Blocks.
    pub boxes: Vec<BlockBox>,
    /// Edges.
    pub edges: Vec<Edge>,
    /// The width of the whole.
    pub width: i32,
    /// The height of the whole.
    pub height: i32,
    /// Edges to pi functions that are not drawn.
    pub omitted: usize,
}

const MARGIN: i32 = 12;
/// Between two lanes, and between two channels.
const LANE: i32 = 7;
/// Of a line of text.
pub const LINE: i32 = 16;
/// Of ten characters.
const CHARACTERS: i32 = 73;
/// Around the text of a box.
pub const PADDING: i32 = 6;
/// Between two boxes.
const GAP: i32 = 20;
/// Of the title of a frame.
const TITLE: i32 = 24;

/// The picture of a program.
///
/// # Errors
///
/// The number of lines, if they are too many for a picture.
pub fn picture(program: &Program, sources: &SourceMap, annotations: &dyn Annotations) -> Result<Picture, usize> {
    let data = program_data(program, sources, annotations);
    let columns = columns(&data);
    let lines = columns.iter().flat_map(|column| &column.boxes).map(|one| one.lines.len()).sum();
    if lines > LINES {
        return Err(lines);
    }
    let joins = |function: u32, block, position| {
        super::dot::joins_after(&program.functions[FunctionId(function)], block, position)
    };
    let links = routes::links(&columns, &data, &joins);
    let placed: Vec<Placed> =
        columns.iter().enumerate().map(|(at, column)| Placed::new(column, links.lanes(at))).collect();
    Ok(assemble(columns, placed, &links))
}

/// A column with the lanes beside it; places count from its own left side and the top of its frame.
struct Placed {
    /// Lanes of links that come in, on the left of the frame.
    entering: i32,
    /// The frame without the lanes of links.
    width: i32,
    height: i32,
    /// The boxes, from the left side of the frame.
    boxes: Vec<Rectangle>,
    flow: Vec<routes::FlowEdge>,
    leaving: i32,
}

impl Placed {
    fn new(column: &Column, (entering, leaving): (usize, usize)) -> Placed {
        let flow = routes::flow(column);
        let lanes = |is_back: bool| {
            flow.iter().filter(|edge| edge.is_back == is_back).filter_map(|edge| edge.lane).map(|lane| lane + 1).max()
        };
        let (left, right) = (lanes(true).unwrap_or(0) as i32, lanes(false).unwrap_or(0) as i32);
        let longest =
            column.boxes.iter().flat_map(|one| &one.lines).map(|line| line.text.chars().count()).max().unwrap_or(0);
        let text = longest.max(column.title.chars().count()) as i32 * CHARACTERS / 10 + 2 * PADDING;
        let x = MARGIN + left * LANE;
        let mut y = TITLE;
        let mut boxes = Vec::with_capacity(column.boxes.len());
        for one in &column.boxes {
            let height = one.lines.len() as i32 * LINE + 2 * PADDING;
            boxes.push(Rectangle { x, y, width: text, height });
            y += height + GAP;
        }
        let width = x + text + right * LANE + MARGIN;
        Placed { entering: entering as i32, width, height: y - GAP + MARGIN, boxes, flow, leaving: leaving as i32 }
    }
}

fn assemble(columns: Vec<Column>, placed: Vec<Placed>, links: &routes::Links) -> Picture {
    let top = MARGIN + links.above as i32 * LANE + if links.above > 0 { LANE } else { 0 };
    let height = placed.iter().map(|one| one.height).max().unwrap_or(0);
    let below = top + height + LANE;
    let mut picture =
        Picture { height: below + links.below as i32 * LANE + MARGIN, omitted: links.omitted, ..Picture::default() };
    let mut x = MARGIN;
    let mut starts = Vec::with_capacity(placed.len());
    for (column, one) in columns.iter().zip(&placed) {
        x += (one.entering + 1) * LANE;
        starts.push(x);
        let rectangle = Rectangle { x, y: top, width: one.width, height: one.height };
        picture.frames.push(Frame { rectangle, title: column.title.clone() });
        x += one.width + (one.leaving + 1) * LANE;
    }
    picture.width = x + MARGIN;
    for (at, one) in placed.iter().enumerate() {
        let boxes = moved(one, starts[at], top);
        picture.edges.extend(one.flow.iter().map(|edge| edge.drawn(&boxes)));
    }
    let place = routes::Places { placed: &placed, starts: &starts, top, below };
    picture.edges.extend(links.drawn(&place));
    for ((column, one), start) in columns.into_iter().zip(&placed).zip(&starts) {
        let boxes = column.boxes.into_iter().zip(moved(one, *start, top));
        picture.boxes.extend(boxes.map(|(content, rectangle)| BlockBox { rectangle, lines: content.lines }));
    }
    picture
}

/// The boxes of a column where they stand in the picture.
fn moved(one: &Placed, start: i32, top: i32) -> Vec<Rectangle> {
    one.boxes.iter().map(|of| Rectangle { x: of.x + start, y: of.y + top, ..*of }).collect()
}

/// The middle of a line of a box.
fn line_at(of: Rectangle, line: usize) -> i32 {
    of.y + PADDING + LINE * line as i32 + LINE / 2
}
