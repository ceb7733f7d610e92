//! The assumption behind slices: accesses without a common class of cells never touch one cell.

use super::classes::Classes;
use cssame_ir::{DefinitionId, ReadId};
use cssame_model::{Model, Options};
use cssame_schedule::{Random, run};
use cssame_vm::{CodeIndex, Event, Machine, Observer, ThreadName, Visibility};
use rustc_hash::FxHashMap;
use std::path::Path;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Access {
    Read(ReadId),
    Write(DefinitionId),
}

/// Who has touched each cell since it was made.
struct Touched<'a> {
    classes: &'a Classes,
    cells: FxHashMap<u32, Vec<Access>>,
    pairs: usize,
}

impl Touched<'_> {
    fn classes_of(&self, access: Access) -> &[u32] {
        match access {
            Access::Read(read) => self.classes.of_read(read),
            Access::Write(definition) => self.classes.of_definition(definition),
        }
    }

    fn touch(&mut self, address: u32, access: Access) {
        let others = self.cells.remove(&address).unwrap_or_default();
        for &other in &others {
            let shared = self.classes_of(access).iter().any(|class| self.classes_of(other).contains(class));
            assert!(shared, "{access:?} and {other:?} touch one cell");
            self.pairs += 1;
        }
        let mut all = others;
        if !all.contains(&access) {
            all.push(access);
        }
        self.cells.insert(address, all);
    }
}

impl Observer for Touched<'_> {
    fn event(&mut self, _: ThreadName, _: CodeIndex, event: Event) {
        match event {
            Event::Read { read, address, .. } => self.touch(address, Access::Read(read)),
            Event::Write { definition, address, .. } => self.touch(address, Access::Write(definition)),
            Event::Allocate { address, size, .. } => {
                for cell in address..address + size {
                    self.cells.remove(&cell);
                }
            }
            _ => {}
        }
    }
}

#[test]
fn accesses_to_one_cell_share_a_class() {
    let mut pairs = 0;
    for entry in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples")).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            continue;
        }
        let text = std::fs::read_to_string(path).unwrap();
        let Ok(model) = Model::from_text("sample.csm", &text, &Options::default()) else { continue };
        let machine = Machine::new(model.program(), &Visibility::all(model.program()));
        let classes = Classes::new(model.program(), &model.form().concurrency);
        let mut touched = Touched { classes: &classes, cells: FxHashMap::default(), pairs: 0 };
        for seed in 1..40 {
            touched.cells.clear();
            run(&machine, &mut Random::new(seed), 2_000, &mut touched);
        }
        pairs += touched.pairs;
    }
    assert!(pairs > 10_000, "{pairs}");
}
