//! The edges of a picture.
//!
//! **Input**: the columns. **Output**: edges within a column with their lanes, and links between columns with theirs.
//!
//! **Algorithm**: lanes are assigned greedily, short edges first, so that they are next to the boxes.

use super::content::Column;
use super::{Edge, EdgeKind, LANE, PI_EDGES, Placed, Point, Rectangle, line_at};
use crate::BlockId;
use crate::json::ProgramData;
use std::collections::BTreeMap;

/// An edge within a column.
#[derive(Clone, Copy, Debug)]
pub(super) struct FlowEdge {
    from: usize,
    to: usize,
    /// Of several edges that leave a box, which.
    number: i32,
    pub(super) is_back: bool,
    /// None of an edge to the next box.
    pub(super) lane: Option<usize>,
}

/// The edges within a column.
pub(super) fn flow(column: &Column) -> Vec<FlowEdge> {
    let mut edges = Vec::new();
    for (from, one) in column.boxes.iter().enumerate() {
        for (number, &to) in one.successors.iter().enumerate() {
            edges.push(FlowEdge { from, to, number: number as i32, is_back: to <= from, lane: None });
        }
    }
    let mut far: Vec<usize> = (0..edges.len()).filter(|&edge| edges[edge].to != edges[edge].from + 1).collect();
    far.sort_by_key(|&edge| (edges[edge].from.abs_diff(edges[edge].to), edge));
    for is_back in [false, true] {
        // For each lane what is taken of it.
        let mut lanes: Vec<Vec<(usize, usize)>> = Vec::new();
        let of_side: Vec<usize> = far.iter().copied().filter(|&edge| edges[edge].is_back == is_back).collect();
        for edge in of_side {
            let (from, to) = (edges[edge].from, edges[edge].to);
            let part = (from.min(to), from.max(to));
            let is_free =
                |taken: &Vec<(usize, usize)>| taken.iter().all(|&(first, last)| part.1 < first || last < part.0);
            let lane = lanes.iter().position(is_free).unwrap_or(lanes.len());
            if lane == lanes.len() {
                lanes.push(Vec::new());
            }
            lanes[lane].push(part);
            edges[edge].lane = Some(lane);
        }
    }
    edges
}

impl FlowEdge {
    pub(super) fn drawn(&self, boxes: &[Rectangle]) -> Edge {
        let (from, to) = (boxes[self.from], boxes[self.to]);
        let points = match self.lane {
            None => {
                let x = from.x + 24;
                vec![Point { x, y: from.y + from.height }, Point { x, y: to.y }]
            }
            Some(lane) => {
                let side = |of: Rectangle| if self.is_back { of.x } else { of.x + of.width };
                let lane = LANE * (lane as i32 + 1);
                let x = if self.is_back { from.x - lane } else { from.x + from.width + lane };
                let (begin, end) = (from.y + from.height - 5 - 4 * self.number, to.y + 6);
                vec![
                    Point { x: side(from), y: begin },
                    Point { x, y: begin },
                    Point { x, y: end },
                    Point { x: side(to), y: end },
                ]
            }
        };
        Edge { kind: EdgeKind::Flow, points, title: String::new() }
    }
}

/// A line of a box.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Spot {
    column: usize,
    place: usize,
    line: usize,
}

/// What a link leads from or to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    /// A line of a box.
    Line(Spot),
    /// The upper side of a frame, or its lower one.
    Frame(usize),
}

#[derive(Clone, Debug)]
struct Link {
    kind: EdgeKind,
    from: End,
    to: End,
    /// Which of the channels above or below all frames.
    channel: usize,
    is_above: bool,
    title: String,
}

/// The links between columns, with their lanes.
#[derive(Debug, Default)]
pub(super) struct Links {
    list: Vec<Link>,
    leaving: BTreeMap<Spot, usize>,
    entering: BTreeMap<Spot, usize>,
    /// Channels above all frames.
    pub(super) above: usize,
    /// Channels below all frames.
    pub(super) below: usize,
    /// Links to pi functions that are left out.
    pub(super) omitted: usize,
}

/// Finds the joins that a fork in a block of a function reaches.
pub(super) type JoinsOf<'a> = dyn Fn(u32, BlockId, usize) -> Vec<(BlockId, usize)> + 'a;

/// The links of a program.
pub(super) fn links(columns: &[Column], data: &ProgramData, joins: &JoinsOf<'_>) -> Links {
    let mut links = Links::default();
    let column_of: BTreeMap<u32, usize> = columns.iter().enumerate().map(|(at, one)| (one.function, at)).collect();
    // By their places: two variables of one name may have versions of one number.
    let mut writes: BTreeMap<&str, Spot> = BTreeMap::new();
    for (column, one) in columns.iter().enumerate() {
        let Some(function) = data.functions.iter().find(|function| function.id == one.function) else { continue };
        for (place, content) in one.boxes.iter().enumerate() {
            let Some(block) = function.blocks.iter().find(|block| block.id == content.block) else { continue };
            for (position, instruction) in block.instructions.iter().enumerate() {
                let spot = Spot { column, place, line: content.line_of[position] };
                if let Some(write) = &instruction.write {
                    writes.insert(&write.at, spot);
                }
                let callees: Vec<usize> =
                    instruction.functions.iter().filter_map(|id| column_of.get(id).copied()).collect();
                links.threads(spot, &callees, &instruction.text);
                if instruction.text.starts_with("fork ") {
                    for (block, position) in joins(one.function, BlockId(block.id), position + 1) {
                        links.join(columns, (column, block, position), &callees);
                    }
                }
            }
        }
    }
    links.pis(columns, &writes);
    links.number();
    links
}

impl Links {
    fn threads(&mut self, spot: Spot, callees: &[usize], text: &str) {
        for &callee in callees {
            let channel = self.above;
            let (from, to) = (End::Line(spot), End::Frame(callee));
            self.list.push(Link { kind: EdgeKind::Thread, from, to, channel, is_above: true, title: text.to_owned() });
        }
        self.above += usize::from(!callees.is_empty());
    }

    fn join(&mut self, columns: &[Column], (column, block, position): (usize, BlockId, usize), callees: &[usize]) {
        let boxes = &columns[column].boxes;
        let Some(place) = boxes.iter().position(|one| one.block == block.0) else { return };
        let spot = Spot { column, place, line: boxes[place].line_of[position] };
        for &callee in callees {
            let (from, to, title) = (End::Frame(callee), End::Line(spot), "join".to_owned());
            self.list.push(Link { kind: EdgeKind::Thread, from, to, channel: self.below, is_above: false, title });
        }
        self.below += usize::from(!callees.is_empty());
    }

    fn pis(&mut self, columns: &[Column], writes: &BTreeMap<&str, Spot>) {
        let mut found = Vec::new();
        for (column, one) in columns.iter().enumerate() {
            for (place, content) in one.boxes.iter().enumerate() {
                for (line, pi) in &content.pis {
                    let to = Spot { column, place, line: *line };
                    let known =
                        pi.arguments.iter().filter_map(|one| Some((&one.version, *writes.get(one.at.as_deref()?)?)));
                    found.extend(known.map(|(version, from)| (from, to, format!("{} may be {version}", pi.version))));
                }
            }
        }
        if found.len() > PI_EDGES {
            self.omitted = found.len();
            return;
        }
        // One channel for all edges of a write.
        let mut channels: BTreeMap<Spot, usize> = BTreeMap::new();
        for (from, to, title) in found {
            let next = self.below + channels.len();
            let channel = *channels.entry(from).or_insert(next);
            self.list.push(Link {
                kind: EdgeKind::Pi,
                from: End::Line(from),
                to: End::Line(to),
                channel,
                is_above: false,
                title,
            });
        }
        self.below += channels.len();
    }

    /// Gives each line that links leave or enter a lane of its own beside its frame.
    fn number(&mut self) {
        let (mut out, mut into): (BTreeMap<usize, usize>, BTreeMap<usize, usize>) = (BTreeMap::new(), BTreeMap::new());
        for link in &self.list {
            let sides = [(link.from, &mut self.leaving, &mut out), (link.to, &mut self.entering, &mut into)];
            for (end, lanes, counts) in sides {
                if let End::Line(spot) = end {
                    lanes.entry(spot).or_insert_with(|| {
                        let count = counts.entry(spot.column).or_default();
                        *count += 1;
                        *count - 1
                    });
                }
            }
        }
    }

    /// The numbers of lanes on the left and on the right of a column.
    pub(super) fn lanes(&self, column: usize) -> (usize, usize) {
        let count = |lanes: &BTreeMap<Spot, usize>| lanes.keys().filter(|spot| spot.column == column).count();
        (count(&self.entering), count(&self.leaving))
    }

    /// All links as edges.
    pub(super) fn drawn(&self, places: &Places<'_>) -> Vec<Edge> {
        self.list.iter().map(|link| self.edge(link, places)).collect()
    }

    fn edge(&self, link: &Link, places: &Places<'_>) -> Edge {
        let channel = LANE * (link.channel as i32 + 1);
        let y = if link.is_above { places.top - LANE - channel } else { places.below + channel - LANE };
        let mut points = Vec::new();
        match link.from {
            End::Line(spot) => {
                let x = places.right_lane(spot.column, self.leaving[&spot]);
                let of = places.rectangle(spot);
                let begin = line_at(of, spot.line);
                points.extend([Point { x: of.x + of.width, y: begin }, Point { x, y: begin }, Point { x, y }]);
            }
            End::Frame(column) => {
                let x = places.middle(column);
                points.extend([Point { x, y: places.top + places.placed[column].height }, Point { x, y }]);
            }
        }
        match link.to {
            End::Line(spot) => {
                let x = places.left_lane(spot.column, self.entering[&spot]);
                let of = places.rectangle(spot);
                let end = line_at(of, spot.line);
                points.extend([Point { x, y }, Point { x, y: end }, Point { x: of.x, y: end }]);
            }
            End::Frame(column) => {
                // Beside what leaves the frame below.
                let x = places.middle(column) + LANE;
                points.extend([Point { x, y }, Point { x, y: places.top }]);
            }
        }
        Edge { kind: link.kind, points, title: link.title.clone() }
    }
}

/// Where columns stand.
pub(super) struct Places<'a> {
    pub(super) placed: &'a [Placed],
    /// The left sides of the frames.
    pub(super) starts: &'a [i32],
    /// The upper side of all frames.
    pub(super) top: i32,
    /// Where the channels below all frames begin.
    pub(super) below: i32,
}

impl Places<'_> {
    fn rectangle(&self, spot: Spot) -> Rectangle {
        let of = self.placed[spot.column].boxes[spot.place];
        Rectangle { x: of.x + self.starts[spot.column], y: of.y + self.top, ..of }
    }

    fn left_lane(&self, column: usize, lane: usize) -> i32 {
        self.starts[column] - LANE * (lane as i32 + 1)
    }

    fn right_lane(&self, column: usize, lane: usize) -> i32 {
        self.starts[column] + self.placed[column].width + LANE * (lane as i32 + 1)
    }

    fn middle(&self, column: usize) -> i32 {
        self.starts[column] + self.placed[column].width / 2
    }
}
