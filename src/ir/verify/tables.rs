//! The tables of the program: variables and their leaves, symbols, reads and definitions.
//!
//! In: a program. Out: ids in the tables that do not exist, leaves that do not tile their variable, and reads and definitions
//! with a wrong position.

use super::{Violation, demand};
use crate::{
    ArrayType, Class, Definition, DefinitionId, DefinitionKind, Instruction, Leaf, LeafId, LeafKind, Program, Read,
    ScalarType, Storage, Symbol, TextId, Type, Value, Variable, VariableId,
};

/// Checks the tables by themselves.
pub(super) fn check_tables(program: &Program, faults: &mut Vec<Violation>) {
    let Program {
        functions,
        main,
        ends_with_main: _,
        limits: _,
        variables,
        leaves,
        classes,
        arrays,
        symbols,
        reads,
        definitions,
        texts,
        contexts,
        enumerations: _,
    } = program;
    let text = |id: TextId| id.index() < texts.len();
    demand(faults, main.is_none_or(|main| functions.get(main).is_some()), || "main does not exist".into());
    let exists = |ty: Type| match ty {
        Type::Single(_) => true,
        Type::Array(array) => arrays.get(array).is_some(),
        Type::Class(class) => classes.get(class).is_some(),
    };
    for (id, Class { name, span: _, fields }) in classes.entries() {
        let known = text(*name) && fields.iter().all(|field| text(field.name) && exists(field.ty));
        demand(faults, known, || format!("class {}: an id does not exist", id.0));
    }
    for (id, ArrayType { element, length: _ }) in arrays.entries() {
        demand(faults, exists(*element), || format!("array type {}: an id does not exist", id.0));
    }
    for (id, Symbol { name, span: _, class, atomic: _, cells_of }) in symbols.entries() {
        let whole = symbols.get(*cells_of).is_some_and(|first| first.cells_of == *cells_of);
        demand(faults, whole, || format!("symbol {}: whose cells it names", id.0));
        let exists = text(*name) && class.is_none_or(text);
        demand(faults, exists, || format!("symbol {}: its name does not exist", id.0));
    }
    for (id, Read { name, symbol, span: _, function }) in reads.entries() {
        let exists = text(*name) && symbols.get(*symbol).is_some() && functions.get(*function).is_some();
        demand(faults, exists, || format!("read {}: an id does not exist", id.0));
    }
    for (id, Definition { name, symbol, span: _, kind, version }) in definitions.entries() {
        let (origin, initial) = match kind {
            DefinitionKind::Initial(leaf) => {
                (leaves.get(*leaf).is_some_and(|leaf| leaf.initial_definition == Some(id)), true)
            }
            DefinitionKind::Write(function) | DefinitionKind::Free(function) => {
                (functions.get(*function).is_some(), false)
            }
        };
        let exists = text(*name) && symbols.get(*symbol).is_some() && origin;
        demand(faults, exists, || format!("definition {}: an id does not exist", id.0));
        demand(faults, (*version == 0) == initial, || format!("definition {}: version {version}", id.0));
    }
    let known = contexts.reads.keys().all(|&read| reads.get(read).is_some())
        && contexts.functions.iter().all(|&function| functions.get(function).is_some())
        && contexts.definitions.keys().all(|&definition| definitions.get(definition).is_some());
    demand(faults, known, || "a context of nothing".into());
    check_versions(program, faults);
    let mut next_leaf = 0;
    for (id, variable) in variables.entries() {
        check_variable(program, id, variable, &mut next_leaf, faults);
    }
    demand(faults, next_leaf == leaves.len(), || "leaves without variable".into());
}

/// The versions of the writes of one symbol are all different, but for copies of one place.
fn check_versions(program: &Program, faults: &mut Vec<Violation>) {
    let writes = program.definitions.iter().filter(|definition| !matches!(definition.kind, DefinitionKind::Initial(_)));
    let mut versions: Vec<_> =
        writes.map(|definition| (definition.symbol, definition.version, definition.span)).collect();
    versions.sort_unstable();
    for pair in versions.windows(2) {
        let same = (pair[0].0, pair[0].1) == (pair[1].0, pair[1].1);
        demand(faults, !same || pair[0].2 == pair[1].2, || {
            format!("symbol {} has version {} twice", pair[0].0.0, pair[0].1)
        });
    }
}

fn check_variable(
    program: &Program,
    id: VariableId,
    variable: &Variable,
    next_leaf: &mut usize,
    faults: &mut Vec<Violation>,
) {
    let Variable { name, span: _, storage, ty, first_leaf, leaf_count, size, bytes: _, heap } = variable;
    demand(faults, program.size_of(*ty) == *size, || format!("variable {}: its type has another size", id.0));
    let owner = match storage {
        Storage::Global => true,
        Storage::Local(function) => program.functions.get(*function).is_some(),
    };
    demand(faults, !heap || *storage != Storage::Global, || format!("variable {}: a global one on the heap", id.0));
    demand(faults, name.index() < program.texts.len() && owner, || format!("variable {}: an id does not exist", id.0));
    demand(faults, first_leaf.index() == *next_leaf, || format!("variable {}: its leaves do not come next", id.0));
    *next_leaf += *leaf_count as usize;
    let mut first = 0_u32;
    let mut filled = vec![0_u32; *size as usize];
    for leaf_id in variable.leaves() {
        let Some(leaf) = program.leaves.get(leaf_id) else {
            demand(faults, false, || format!("variable {}: leaf {} does not exist", id.0, leaf_id.0));
            return;
        };
        let follows = leaf.variable == id && leaf.offset >= first;
        demand(faults, follows, || format!("leaf {} does not follow the one before in variable {}", leaf_id.0, id.0));
        first = leaf.offset;
        for cell in leaf.cells() {
            match filled.get_mut(cell as usize) {
                Some(filled) => *filled += 1,
                None => demand(faults, false, || format!("leaf {} lies outside variable {}", leaf_id.0, id.0)),
            }
        }
        check_leaf(program, leaf_id, leaf, faults);
    }
    demand(faults, filled.iter().all(|&leaves| leaves == 1), || {
        format!("the leaves of variable {} do not fill it", id.0)
    });
}

fn check_leaf(program: &Program, id: LeafId, leaf: &Leaf, faults: &mut Vec<Violation>) {
    let Leaf { variable: _, name, symbol, offset: _, byte: _, dimensions, kind, initial, initial_definition } = leaf;
    let exists = name.index() < program.texts.len() && program.symbols.get(*symbol).is_some();
    demand(faults, exists, || format!("leaf {}: an id does not exist", id.0));
    let cell_type = match kind {
        LeafKind::Data(ty) => *ty,
        _ => ScalarType::Int,
    };
    let sizes = dimensions.iter().all(|dimension| dimension.length > 0 && dimension.stride > 0 && dimension.bytes > 0);
    demand(faults, sizes, || format!("leaf {}: an empty dimension", id.0));
    let text = program.texts.get(*name);
    let named = dimensions.iter().all(|dimension| text.is_char_boundary(dimension.name_end as usize));
    demand(faults, named, || format!("leaf {}: an index outside its name", id.0));
    let data = matches!(kind, LeafKind::Data(_));
    demand(faults, !data || initial.len() == leaf.element_count() as usize, || {
        format!("leaf {}: number of initial values", id.0)
    });
    let fits = |value: &Value| !data || value.ty() == cell_type;
    demand(faults, initial.iter().all(fits), || format!("leaf {}: type of an initial value", id.0));
    let texts = |value: &Value| !matches!(value, Value::String(text) if text.index() >= program.texts.len());
    demand(faults, initial.iter().all(texts), || format!("leaf {}: an initial text does not exist", id.0));
    let definition = initial_definition.and_then(|definition| program.definitions.get(definition));
    let own = definition.is_some_and(|definition| definition.kind == DefinitionKind::Initial(id));
    let same = definition.is_none_or(|definition| definition.symbol == *symbol);
    demand(faults, data == own && same, || format!("leaf {}: its initial definition", id.0));
}

/// Each read stands in one instruction, and each write; in the function that they name.
pub(super) fn check_places(program: &Program, faults: &mut Vec<Violation>) {
    let mut reads = vec![0_u32; program.reads.len()];
    let mut writes = vec![0_u32; program.definitions.len()];
    for (id, function) in program.functions.entries() {
        for instruction in function.blocks.iter().flat_map(|block| &block.instructions) {
            let (read, definition) = match instruction {
                Instruction::Load { read, .. } => (Some(*read), None),
                Instruction::Store { definition, .. } | Instruction::Free { definition, .. } => {
                    (None, Some(*definition))
                }
                Instruction::Atomic { read, definition, .. } => (Some(*read), Some(*definition)),
                _ => (None, None),
            };
            if let Some(read) = read {
                reads[read.index()] += 1;
                demand(faults, program.reads[read].function == id, || format!("read {} is elsewhere", read.0));
            }
            if let Some(definition) = definition {
                writes[definition.index()] += 1;
                let elsewhere = matches!(program.definitions[definition].kind,
                    DefinitionKind::Write(owner) | DefinitionKind::Free(owner) if owner != id);
                demand(faults, !elsewhere, || format!("definition {} is elsewhere", definition.0));
            }
        }
    }
    for (index, &count) in reads.iter().enumerate() {
        demand(faults, count == 1, || format!("read {index} stands in {count} instructions"));
    }
    for (index, &count) in writes.iter().enumerate() {
        let kind = program.definitions[DefinitionId::new(index)].kind;
        let initial = matches!(kind, DefinitionKind::Initial(_));
        demand(faults, initial || count == 1, || format!("definition {index} stands in {count} instructions"));
    }
}
