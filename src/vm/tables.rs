//! Interned names of threads and printed lines.
//!
//! States hold only ids into these tables; a search shares one value among all its states. Equal names and equal
//! outputs have equal ids, so states can be compared by ids. Outputs are linked lists: an id stands for all lines of a
//! thread so far. The tables only grow.

use cssame_ir::{TextId, thread_name};

use rustc_hash::{FxBuildHasher, FxHashMap};
use std::cmp::Ordering;

/// The interned name of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PathId(pub u32);

/// The interned output of a thread; 0 is the empty one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OutputId(pub u32);

impl OutputId {
    /// Nothing printed.
    pub const EMPTY: OutputId = OutputId(0);
}

/// One part of the name of a thread, below the name of the thread that made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Path {
    /// The thread that made it; main has none.
    pub parent: Option<PathId>,
    /// Label, handle or function, or `parfor@LINE`.
    pub label: TextId,
    /// For an iteration of a `parfor`.
    pub ordinal: Option<i64>,
    /// Counts threads of equal names, from 1.
    pub instance: u32,
    /// Rank, in the order of the text, of the place that makes it.
    pub rank: u32,
}

/// An object that a thread makes: of which variable, its number among those of the thread, from 1, and how large.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct MadeObject {
    pub owner: PathId,
    pub variable: u32,
    pub number: u32,
    /// Its cells.
    pub size: u32,
}

/// How much [`Tables`] hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Marks {
    paths: usize,
    lines: usize,
    outputs: usize,
    objects: usize,
}

/// A line of an output, by its place among all lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct LineId {
    line: u32,
    /// Whether the next print goes on with it.
    is_open: bool,
}

/// Names of threads and printed lines.
#[derive(Clone, Debug, Default)]
pub struct Tables {
    paths: indexmap::IndexMap<Path, PathId, FxBuildHasher>,
    lines: indexmap::IndexSet<String, FxBuildHasher>,
    outputs: Vec<(OutputId, LineId)>,
    output_index: FxHashMap<(OutputId, LineId), OutputId>,
    /// With its address.
    objects: indexmap::IndexMap<MadeObject, u32, FxBuildHasher>,
}

impl Tables {
    /// Empty tables.
    #[must_use]
    pub fn new() -> Tables {
        Tables::default()
    }

    /// The id of a name.
    pub fn intern_path(&mut self, path: Path) -> PathId {
        if let Some(index) = self.paths.get_index_of(&path) {
            return PathId(index as u32);
        }
        let shape = if path.instance == 1 && path.parent.is_none_or(|parent| self.shape(parent) == parent) {
            PathId(self.paths.len() as u32)
        } else {
            let parent = path.parent.map(|parent| self.shape(parent));
            self.intern_path(Path { parent, instance: 1, ..path })
        };
        PathId(self.paths.insert_full(path, shape).0 as u32)
    }

    /// The parts of a name.
    #[must_use]
    pub fn path(&self, id: PathId) -> Option<&Path> {
        self.paths.get_index(id.0 as usize).map(|(path, _)| path)
    }

    /// The name without the numbers of instances.
    #[must_use]
    pub fn shape(&self, id: PathId) -> PathId {
        self.paths.get_index(id.0 as usize).map_or(id, |(_, &shape)| shape)
    }

    /// The names from main down to that one.
    fn chain(&self, id: PathId) -> Vec<&Path> {
        let mut chain: Vec<&Path> =
            std::iter::successors(self.path(id), |path| path.parent.and_then(|parent| self.path(parent))).collect();
        chain.reverse();
        chain
    }

    /// The order in which threads are listed: main first, then as the text makes them.
    #[must_use]
    pub fn compare_paths(&self, left: PathId, right: PathId) -> Ordering {
        let key = |path: &&Path| (path.rank, path.ordinal, path.instance);
        self.chain(left).iter().map(key).cmp(self.chain(right).iter().map(key))
    }

    /// The output that comes of adding a text to one: to its last line, if that is open, else as a line.
    pub fn append(&mut self, output: OutputId, text: &str, is_open: bool) -> OutputId {
        let (output, begun) = match self.outputs.get(output.0 as usize) {
            Some(&(before, last)) if last.is_open => (before, self.lines.get_index(last.line as usize)),
            _ => (output, None),
        };
        let whole = begun.map(|begun| format!("{begun}{text}"));
        let line = whole.as_deref().unwrap_or(text);
        let line = match self.lines.get_index_of(line) {
            Some(index) => index as u32,
            None => self.lines.insert_full(line.to_owned()).0 as u32,
        };
        if self.outputs.is_empty() {
            self.outputs.push((OutputId::EMPTY, LineId::default()));
        }
        let (outputs, line) = (&mut self.outputs, LineId { line, is_open });
        *self.output_index.entry((output, line)).or_insert_with(|| {
            outputs.push((output, line));
            OutputId(outputs.len() as u32 - 1)
        })
    }

    /// The address of an object. The first one that there is begins at `first`.
    pub(super) fn place_object(&mut self, made: MadeObject, first: u32) -> u32 {
        let end = self.objects.last().map_or(first, |(last, start)| start + last.size.max(1));
        *self.objects.entry(made).or_insert(end)
    }

    /// The objects that were made, in the order of their addresses.
    pub(super) fn objects(&self) -> impl Iterator<Item = &MadeObject> {
        self.objects.keys()
    }

    /// The object that begins at an address.
    pub(super) fn object_at(&self, start: u32) -> Option<MadeObject> {
        let at = self.objects.binary_search_by(|_, other| other.cmp(&start)).ok()?;
        self.objects.get_index(at).map(|(made, _)| *made)
    }

    /// An output without the line that is not ended yet.
    #[must_use]
    pub fn ended(&self, output: OutputId) -> OutputId {
        match self.outputs.get(output.0 as usize) {
            Some(&(before, last)) if last.is_open => before,
            _ => output,
        }
    }

    /// The last line of an output.
    #[must_use]
    pub fn last_line(&self, output: OutputId) -> Option<&str> {
        let &(_, last) = self.outputs.get(output.0 as usize).filter(|_| output != OutputId::EMPTY)?;
        self.lines.get_index(last.line as usize).map(String::as_str)
    }

    /// The lines of an output, in order.
    #[must_use]
    pub fn lines(&self, output: OutputId) -> Vec<&str> {
        let mut lines = Vec::new();
        let mut at = output;
        while let Some(line) = self.last_line(at) {
            lines.push(line);
            at = self.outputs[at.0 as usize].0;
        }
        lines.reverse();
        lines
    }

    /// How much there is.
    #[must_use]
    pub fn marks(&self) -> Marks {
        Marks {
            paths: self.paths.len(),
            lines: self.lines.len(),
            outputs: self.outputs.len(),
            objects: self.objects.len(),
        }
    }

    /// About how much memory they take, in bytes; the characters of lines and names are not counted.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        const OUTPUT: usize = size_of::<(OutputId, LineId)>() + size_of::<((OutputId, LineId), OutputId)>() + 1;
        const LINE: usize = size_of::<String>() + 2 * size_of::<usize>();
        let paths = self.paths.len() * (size_of::<Path>() + size_of::<PathId>() + 2 * size_of::<usize>());
        let objects = self.objects.len() * (size_of::<MadeObject>() + size_of::<u32>() + 2 * size_of::<usize>());
        (self.outputs.capacity() * OUTPUT + self.lines.len() * LINE + paths + objects) as u64
    }

    /// Forgets what has come since then.
    pub fn truncate(&mut self, marks: Marks) {
        self.paths.truncate(marks.paths);
        self.lines.truncate(marks.lines);
        self.objects.truncate(marks.objects);
        for output in self.outputs.drain(marks.outputs.min(self.outputs.len())..) {
            self.output_index.remove(&output);
        }
    }

    /// Takes over what other tables, which have all that is here at the same places, have beyond it.
    pub fn catch_up(&mut self, other: &Tables) {
        self.paths.extend(other.paths.iter().skip(self.paths.len()).map(|(path, &shape)| (*path, shape)));
        self.lines.extend(other.lines.iter().skip(self.lines.len()).cloned());
        self.objects.extend(other.objects.iter().skip(self.objects.len()).map(|(&made, &place)| (made, place)));
        let known = self.outputs.len();
        self.outputs.extend_from_slice(&other.outputs[known..]);
        // The first one is the empty output, which is no addition to another.
        let added = self.outputs.iter().enumerate().skip(known.max(1));
        self.output_index.extend(added.map(|(index, &output)| (output, OutputId(index as u32))));
    }

    /// The id here of a name in other tables.
    pub fn adopt_path(&mut self, other: &Tables, id: PathId) -> PathId {
        let Some(&path) = other.path(id) else { return id };
        let parent = path.parent.map(|parent| self.adopt_path(other, parent));
        self.intern_path(Path { parent, ..path })
    }

    /// The id here of an output in other tables.
    pub fn adopt_output(&mut self, other: &Tables, id: OutputId) -> OutputId {
        let is_open = other.outputs.get(id.0 as usize).is_some_and(|(_, last)| last.is_open);
        let lines = other.lines(id);
        let open = |at: usize| is_open && at + 1 == lines.len();
        lines.iter().enumerate().fold(OutputId::EMPTY, |output, (at, line)| self.append(output, line, open(at)))
    }

    /// The name of a thread as users read it: `T1/inner`, `parfor@7[2]`, `t#2`; main is `main`.
    #[must_use]
    pub fn path_name(&self, texts: &cssame_ir::Texts, id: PathId) -> String {
        let chain = self.chain(id);
        // The name of main stands only for main itself.
        let parts = if chain.len() > 1 { &chain[1..] } else { &chain[..] };
        let mut name = String::new();
        for (position, path) in parts.iter().enumerate() {
            if position > 0 {
                name.push('/');
            }
            let label = texts.get(path.label);
            match path.ordinal {
                Some(ordinal) if !label.contains('[') => name.push_str(&format!("{label}[{ordinal}]")),
                ordinal => name.push_str(&thread_name(label, ordinal)),
            }
            if path.instance > 1 {
                name.push_str(&format!("#{}", path.instance));
            }
        }
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cssame_ir::Texts;

    #[test]
    fn names_are_paths_below_main() {
        let mut texts = Texts::default();
        let mut tables = Tables::new();
        let (main_label, arm, loop_label) = (texts.intern("main"), texts.intern("T1"), texts.intern("parfor@7"));
        let part = |parent, label, ordinal, instance| Path { parent, label, ordinal, instance, rank: 0 };
        let main = tables.intern_path(part(None, main_label, None, 1));
        let second = tables.intern_path(part(Some(main), arm, None, 2));
        let iteration = tables.intern_path(part(Some(second), loop_label, Some(3), 1));
        assert_eq!(tables.path_name(&texts, main), "main");
        assert_eq!(tables.path_name(&texts, second), "T1#2");
        assert_eq!(tables.path_name(&texts, iteration), "T1#2/parfor@7[3]");
        assert_eq!(tables.path_name(&texts, tables.shape(iteration)), "T1/parfor@7[3]");
        assert_eq!(tables.shape(main), main);
        assert_eq!(tables.compare_paths(main, iteration), Ordering::Less);
    }

    #[test]
    fn tables_that_catch_up_give_the_same_numbers() {
        let mut texts = Texts::default();
        let label = texts.intern("main");
        let (mut first, mut second) = (Tables::new(), Tables::new());
        let path = |parent, instance| Path { parent, label, ordinal: None, instance, rank: 0 };
        let main = first.intern_path(path(None, 1));
        first.append(OutputId::EMPTY, "1", false);
        let made = |number, size| MadeObject { owner: main, variable: 0, number, size };
        assert_eq!([first.place_object(made(1, 3), 7), first.place_object(made(2, 0), 7)], [7, 10]);
        second.catch_up(&first);
        let marks = second.marks();
        assert_eq!(marks, first.marks());
        let lost = second.append(OutputId::EMPTY, "lost", false);
        second.append(lost, "1", false);
        second.intern_path(path(Some(main), 2));
        assert_eq!([second.place_object(made(3, 1), 7), second.place_object(made(1, 3), 7)], [11, 7]);
        assert_ne!(second.marks(), marks);
        second.truncate(marks);
        assert_eq!(second.marks(), marks);
        for line in ["2", "1", "lost"] {
            let one = first.append(OutputId::EMPTY, line, false);
            assert_eq!(first.append(one, "1", false), first.append(one, "1", false));
        }
        assert_eq!(first.place_object(made(4, 1), 7), 11);
        let thread = first.intern_path(path(Some(main), 2));
        second.catch_up(&first);
        assert_eq!(second.marks(), first.marks());
        assert_eq!(second.intern_path(path(Some(main), 2)), thread);
        assert_eq!(second.append(OutputId::EMPTY, "lost", false), first.append(OutputId::EMPTY, "lost", false));
        assert_eq!(second.marks(), first.marks());
    }

    #[test]
    fn equal_outputs_have_equal_ids() {
        let mut tables = Tables::new();
        let one = tables.append(OutputId::EMPTY, "1", false);
        let both = tables.append(one, "2", false);
        let again = tables.append(OutputId::EMPTY, "1", false);
        assert_eq!(one, again);
        assert_eq!(tables.append(again, "2", false), both);
        assert_eq!(tables.lines(both), ["1", "2"]);
        assert!(tables.lines(OutputId::EMPTY).is_empty());
    }
    #[test]
    fn an_open_line_goes_on() {
        let mut tables = Tables::new();
        let first = tables.append(OutputId::EMPTY, "a", false);
        let open = tables.append(first, "b", true);
        let wider = tables.append(open, "c", true);
        assert_eq!(tables.lines(wider), ["a", "bc"]);
        let whole = tables.append(wider, "d", false);
        let next = tables.append(whole, "e", false);
        assert_eq!(tables.lines(next), ["a", "bcd", "e"]);
        assert_eq!(whole, tables.append(first, "bcd", false));
        let mut others = Tables::new();
        let adopted = others.adopt_output(&tables, wider);
        let adopted = others.append(adopted, "!", false);
        assert_eq!(others.lines(adopted), ["a", "bc!"]);
    }
}
