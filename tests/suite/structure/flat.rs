//! Structured statements turned back into a graph, and compared with the graph of the function edge by edge.
//!
//! In both graphs a jump without instructions is what it leads to, and so is a branch without instructions whose ways
//! lead to the same block.

use cssame::ir::structure::{Label, Structured, completes};
use cssame::ir::{BlockId, Function, Terminator};
use std::collections::{BTreeMap, BTreeSet};

/// A part of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Instructions,
    Terminator,
}

/// What comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    /// The instructions of a block, or its terminator.
    Block(BlockId, Part),
    End,
    /// A loop without instructions.
    Forever,
}

/// By part of a block, what comes next where its condition holds, and where not.
#[derive(Debug, PartialEq, Eq)]
struct Flow {
    entry: Next,
    edges: BTreeMap<(BlockId, Part), [Next; 2]>,
}

/// Demands that the statements do what the function does, and keep to the rules of Java and of the tree.
pub fn check(function: &Function, statements: &[Structured]) {
    let mut flat = Flat { function, points: vec![Point::End], labels: BTreeSet::new() };
    let entry = flat.sequence(statements, 0, &[]);
    assert_eq!(flow_of(&flat.points, entry).reduced(function), graph_of(function).reduced(function));
    assert!(function.result.is_none() || !completes(statements), "{statements:#?}");
    let mut used = BTreeSet::new();
    flat.points.iter().for_each(|point| {
        if let Point::Labelled(label, _) = point {
            used.insert(*label);
        }
    });
    assert_eq!(flat.labels, used, "labels that are declared, and used");
}

/// A place of the program.
#[derive(Clone, Copy, Debug)]
enum Point {
    Block(BlockId, Part, [usize; 2]),
    Goto(usize),
    Labelled(Label, usize),
    End,
}

struct Flat<'a> {
    function: &'a Function,
    points: Vec<Point>,
    labels: BTreeSet<Label>,
}

/// A statement that a jump may leave, and where its jumps lead.
#[derive(Clone, Copy)]
struct Around {
    label: Option<Label>,
    leave: usize,
    /// Of a loop.
    again: Option<usize>,
}

impl Flat<'_> {
    fn point(&mut self, point: Point) -> usize {
        self.points.push(point);
        self.points.len() - 1
    }

    /// Where the statements begin, if `next` comes behind them.
    fn sequence(&mut self, statements: &[Structured], mut next: usize, around: &[Around]) -> usize {
        for (at, statement) in statements.iter().enumerate().rev() {
            let is_last = at + 1 == statements.len();
            assert!(is_last || completes(&statements[at..=at]), "nothing comes behind {statement:#?}");
            next = self.statement(statement, next, around);
        }
        next
    }

    fn statement(&mut self, statement: &Structured, next: usize, around: &[Around]) -> usize {
        match statement {
            Structured::Block(block) => self.point(Point::Block(*block, Part::Instructions, [next; 2])),
            Structured::If { block, condition, negated, then, otherwise } => {
                self.is_test(*block, condition);
                assert!(!then.is_empty() && (otherwise.is_empty() || completes(then)), "{statement:#?}");
                let mut ways = [self.sequence(then, next, around), self.sequence(otherwise, next, around)];
                if *negated {
                    ways.reverse();
                }
                self.point(Point::Block(*block, Part::Terminator, ways))
            }
            Structured::Loop { label, body } => {
                let begin = self.point(Point::Goto(0));
                self.points[begin] = Point::Goto(self.looped(*label, body, begin, next, around));
                begin
            }
            Structured::While { label, block, condition, negated, body } => {
                self.is_test(*block, condition);
                let begin = self.point(Point::Goto(0));
                let mut ways = [self.looped(*label, body, begin, next, around), next];
                if *negated {
                    ways.reverse();
                }
                let test = self.point(Point::Block(*block, Part::Terminator, ways));
                self.points[begin] = Point::Block(*block, Part::Instructions, [test; 2]);
                begin
            }
            Structured::Labelled { label, body } => {
                assert!(self.labels.insert(*label));
                let this = Around { label: Some(*label), leave: next, again: None };
                self.sequence(body, next, &[around, &[this]].concat())
            }
            Structured::Break(label) => {
                let target = self.target(*label, around).leave;
                self.jump(*label, target)
            }
            Structured::Continue(label) => {
                let target = self.target(*label, around).again.expect("a loop");
                self.jump(*label, target)
            }
            Structured::Return { block, value } => {
                assert_eq!(self.function.blocks[*block].terminator, Terminator::Return(*value));
                self.point(Point::Block(*block, Part::Terminator, [0; 2]))
            }
        }
    }

    fn looped(
        &mut self,
        label: Option<Label>,
        body: &[Structured],
        begin: usize,
        next: usize,
        around: &[Around],
    ) -> usize {
        assert!(label.is_none_or(|label| self.labels.insert(label)));
        assert!(!matches!(body.last(), Some(Structured::Continue(None))), "{body:#?}");
        self.sequence(body, begin, &[around, &[Around { label, leave: next, again: Some(begin) }]].concat())
    }

    fn is_test(&self, block: BlockId, tested: &cssame::ir::Operand) {
        let terminator = &self.function.blocks[block].terminator;
        assert!(matches!(terminator, Terminator::Branch { condition, .. } if condition == tested));
    }

    fn target(&self, label: Option<Label>, around: &[Around]) -> Around {
        let is_target = |one: &&Around| if label.is_none() { one.again.is_some() } else { one.label == label };
        *around.iter().rev().find(is_target).expect("a jump has a target")
    }

    fn jump(&mut self, label: Option<Label>, target: usize) -> usize {
        self.point(label.map_or(Point::Goto(target), |label| Point::Labelled(label, target)))
    }
}

fn flow_of(points: &[Point], entry: usize) -> Flow {
    let resolve = |mut at: usize| {
        for _ in 0..=points.len() {
            match points[at] {
                Point::Block(block, part, _) => return Next::Block(block, part),
                Point::Goto(next) | Point::Labelled(_, next) => at = next,
                Point::End => return Next::End,
            }
        }
        Next::Forever
    };
    let mut edges = BTreeMap::new();
    for point in points {
        if let Point::Block(block, part, ways) = point {
            let is_first = edges.insert((*block, *part), ways.map(resolve)).is_none();
            assert!(is_first, "block {} stands in two places", block.0);
        }
    }
    Flow { entry: resolve(entry), edges }
}

fn graph_of(function: &Function) -> Flow {
    let begin = |block| Next::Block(block, Part::Instructions);
    let mut edges = BTreeMap::new();
    for (id, block) in function.blocks.entries() {
        let mut ways = block.terminator.successors().map(begin);
        let first = ways.next().unwrap_or(Next::End);
        edges.insert((id, Part::Instructions), [Next::Block(id, Part::Terminator); 2]);
        edges.insert((id, Part::Terminator), [first, ways.next().unwrap_or(first)]);
    }
    Flow { entry: begin(BlockId(0)), edges }
}

impl Flow {
    /// The same without blocks that do nothing, and without those that the entry does not reach.
    fn reduced(mut self, function: &Function) -> Flow {
        let mut is_changed = true;
        while is_changed {
            is_changed = false;
            let mut gone = BTreeMap::new();
            for (&(id, part), &[first, second]) in &self.edges {
                let block = &function.blocks[id];
                let does_nothing = match part {
                    Part::Instructions => block.instructions.is_empty(),
                    Part::Terminator => first == second && !matches!(block.terminator, Terminator::Return(Some(_))),
                };
                if does_nothing {
                    let is_circle = first == Next::Block(id, part);
                    gone.insert((id, part), if is_circle { Next::Forever } else { first });
                }
            }
            let replaced = |next: Next| {
                let mut next = next;
                let mut left = gone.len();
                while let Next::Block(id, part) = next
                    && let Some(&further) = gone.get(&(id, part))
                {
                    if left == 0 {
                        return Next::Forever;
                    }
                    left -= 1;
                    next = further;
                }
                next
            };
            let entry = replaced(self.entry);
            is_changed |= !gone.is_empty();
            let kept = self.edges.iter().filter(|(id, _)| !gone.contains_key(id));
            self = Flow { entry, edges: kept.map(|(&id, ways)| (id, ways.map(replaced))).collect() };
        }
        let mut open = vec![self.entry];
        let mut reached = BTreeSet::new();
        while let Some(next) = open.pop() {
            if let Next::Block(id, part) = next
                && reached.insert((id, part))
            {
                open.extend(self.edges[&(id, part)]);
            }
        }
        self.edges.retain(|id, _| reached.contains(id));
        self
    }
}
