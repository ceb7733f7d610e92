//! The variant graph of the first execution, for drawing.
//!
//! **Input**: the graph and its moves. **Output**: [`GraphDrawing`]: nodes with their index, versions and flags, edges with their
//! actions; variants, stuck nodes and forbidden moves are marked.

use super::data::{DrawnEdge, DrawnKind, DrawnNode, GraphDrawing};
use crate::find::{Findings, Graph};
use crate::ids::ActionId;
use crate::interleaving::{Interleaving, Obstacle, Words};
use crate::run::Session;
use crate::trace::{ActionKind, Trace};

/// Draws a graph.
pub(super) fn draw(session: &Session<'_>, findings: &Findings, graph: &Graph) -> GraphDrawing {
    let trace = &findings.explored.runs[0].run.trace;
    let spurious = session.model.options().semantics.spurious_wakeups;
    let interleaving = Interleaving::new(session.model.program(), trace, &graph.projection, spurious);
    let artist = Artist { session, trace, graph, interleaving };
    artist.draw()
}

struct Artist<'a> {
    session: &'a Session<'a>,
    trace: &'a Trace,
    graph: &'a Graph,
    interleaving: Interleaving<'a>,
}

impl Artist<'_> {
    fn draw(&self) -> GraphDrawing {
        let mut drawing = GraphDrawing::default();
        for node in &self.graph.graph.nodes {
            let kind = match (node.stuck, node.observed) {
                (true, _) => DrawnKind::Stuck,
                (false, true) => DrawnKind::Observed,
                (false, false) => DrawnKind::Plain,
            };
            drawing.nodes.push(DrawnNode { lines: self.lines(&node.words, &node.versions), kind });
        }
        for &(from, to, step) in &self.graph.graph.edges {
            let label = self.label(&self.graph.graph.nodes[from as usize].words, step.thread);
            drawing.edges.push(DrawnEdge { from: from as usize, to: to as usize, label, forbidden: None });
        }
        for (number, variant) in self.graph.graph.variants.iter().enumerate() {
            let mut lines = vec![format!("V{}", number + 1)];
            lines.extend(self.lines(&variant.words, &variant.versions));
            drawing.nodes.push(DrawnNode { lines, kind: DrawnKind::Variant });
            let label = self.label(&self.graph.graph.nodes[variant.node as usize].words, variant.step.thread);
            let (from, to) = (variant.node as usize, drawing.nodes.len() - 1);
            drawing.edges.push(DrawnEdge { from, to, label, forbidden: None });
        }
        for one in &self.graph.graph.infeasible {
            let word = match one.obstacle {
                Obstacle::Lock => "lock",
                Obstacle::Wait => "wait",
                Obstacle::Other => "other",
            };
            drawing.nodes.push(DrawnNode { lines: vec![word.to_owned()], kind: DrawnKind::Forbidden });
            let label = self.label(&self.graph.graph.nodes[one.node as usize].words, one.thread);
            let (from, to) = (one.node as usize, drawing.nodes.len() - 1);
            drawing.edges.push(DrawnEdge { from, to, label, forbidden: Some(word) });
        }
        drawing
    }

    /// The index and the versions; the flags of threads that wait.
    fn lines(&self, words: &Words, versions: &[u32]) -> Vec<String> {
        let threads = &self.graph.projection.threads;
        let shown = (0..threads.len()).filter(|&thread| !self.interleaving.is_silent_thread(thread));
        let index: Vec<String> = shown.map(|thread| words[thread].to_string()).collect();
        let versions: Vec<String> = versions.iter().map(u32::to_string).collect();
        let mut lines = vec![format!("({})", index.join(", ")), format!("({})", versions.join(", "))];
        let waiting = (0..threads.len()).filter(|&thread| words[threads.len() + thread] != 0);
        let waiting: Vec<String> = waiting.map(|thread| self.thread(thread)).collect();
        if !waiting.is_empty() {
            lines.push(format!("{} waits", waiting.join(", ")));
        }
        lines
    }

    fn thread(&self, thread: usize) -> String {
        self.session.model.machine().path_name(&self.session.tables, self.graph.projection.threads[thread].path)
    }

    /// `T1 read x@4:7`
    fn label(&self, words: &[u32], thread: usize) -> String {
        let actions = self.interleaving.next(words, thread).unwrap_or_default();
        let done: Vec<String> = actions.iter().map(|&id| self.action(id)).collect();
        format!("{} {}", self.thread(thread), done.join(", "))
    }

    fn action(&self, id: ActionId) -> String {
        let program = self.session.model.program();
        let action = &self.trace.actions[id];
        let sources = self.session.model.sources();
        if let Some(access) = action.kind.access() {
            let name = program.texts.get(access.name(program));
            return format!("{} {name}@{}", access.word(), sources.place(access.span(program)));
        }
        let at = sources.place(self.session.model.machine().span(action.at));
        let (word, object) = match action.kind {
            ActionKind::Lock(cell) => ("lock", Some(cell)),
            ActionKind::Unlock(cell) | ActionKind::ReadUnlock(cell) => ("unlock", Some(cell)),
            ActionKind::ReadLock(cell) => ("rdlock", Some(cell)),
            ActionKind::Wait { condition } => ("wait", condition.map(|pair| pair.0)),
            ActionKind::Relock { lock, .. } => ("relock", Some(lock)),
            ActionKind::Notify { condition, all: true } => ("notifyAll", condition),
            ActionKind::Notify { condition, all: false } => ("notify", condition),
            ActionKind::Set(cell) => ("set", Some(cell)),
            ActionKind::Clear(cell) => ("clear", Some(cell)),
            ActionKind::WaitEvent(cell) => ("wait", Some(cell)),
            ActionKind::Acquire(cell) => ("P", Some(cell)),
            ActionKind::Release(cell) => ("V", Some(cell)),
            ActionKind::Arrive(cell) => ("barrier", Some(cell)),
            ActionKind::Fork(_) => ("fork", None),
            ActionKind::Spawn(_) => ("spawn", None),
            ActionKind::Join | ActionKind::JoinThread(_) => ("join", None),
            ActionKind::Read { .. } | ActionKind::Write { .. } => ("", None),
        };
        match object {
            Some(cell) => format!("{word} {}@{at}", cell.name(program)),
            None => format!("{word}@{at}"),
        }
    }
}
