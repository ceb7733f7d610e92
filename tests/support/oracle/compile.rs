//! From the syntax tree to [`Code`]: declarations, and what statements and expressions share.
//!
//! The program must be valid; what the compiler cannot make sense of is an `Err` with a sentence, not a diagnostic.
//! It runs twice: the first pass finds out which locals are used by arms inside their scope (those need cells), the
//! second one compiles.

use super::code::{CellInit, Code, Fork, NONE, Op, Slot};
use super::value::{Ty, Value, binary, unary};
use cssame::front::csm::syntax::ast::{self, Declarator, Expr, ExprKind, Program, TypeKind, TypeName};
use cssame::source::{SourceFile, Span};
use std::collections::{BTreeMap, BTreeSet, HashMap};

pub type Result<T> = std::result::Result<T, String>;

/// A field of a class.
#[derive(Clone, Debug)]
pub struct Field<'a> {
    pub ty: Ty,
    /// Lengths of the dimensions of an array.
    pub dims: Vec<u32>,
    /// Whether it is declared `atomic`.
    pub atomic: bool,
    pub offset: u32,
    pub declarator: &'a Declarator,
}

/// A class: its members and how many cells an object takes.
#[derive(Debug, Default)]
pub struct Class<'a> {
    pub fields: BTreeMap<&'a str, Field<'a>>,
    /// Names of the fields in the order of the text.
    pub order: Vec<&'a str>,
    pub methods: HashMap<&'a str, u32>,
    /// Constants and enumerators of the class.
    pub constants: HashMap<&'a str, (Ty, Value)>,
    /// What runs on a new object.
    pub constructor: Option<u32>,
    pub size: u32,
}

/// Where a name of a function lives.
#[derive(Clone, Debug)]
pub struct Local<'a> {
    pub name: &'a str,
    pub ty: Ty,
    pub dims: Vec<u32>,
    pub slot: Slot,
    /// Whether the slot holds a reference to its cells, or the value itself.
    pub boxed: bool,
    /// How many arms are around its declaration, inside the function.
    pub depth: u32,
    /// Offset of the declared name: identifies it in both passes.
    pub declared: u32,
    /// Of a named constant, its value: then there is no slot.
    pub constant: Option<Value>,
}

/// A global variable or object.
#[derive(Clone, Debug)]
pub struct Global {
    pub ty: Ty,
    pub dims: Vec<u32>,
    pub address: u32,
}

/// What has to be done on the way out of a statement.
#[derive(Clone, Copy, Debug)]
pub enum Cleanup {
    /// Of `synchronized`: the slot of the lock.
    Unlock(Slot, u32),
    AtomicEnd,
}

/// A loop that is being compiled: the jumps that wait for its ends.
#[derive(Debug, Default)]
pub struct Loop {
    pub breaks: Vec<usize>,
    pub continues: Vec<usize>,
    pub cleanups: usize,
    /// A switch, in which `continue` is one of the loop around it.
    pub is_switch: bool,
}

/// The function that is being compiled.
#[derive(Debug)]
pub struct Frame<'a> {
    pub function: u32,
    pub class: Option<usize>,
    pub result: Ty,
    pub scopes: Vec<Vec<Local<'a>>>,
    pub slots: u32,
    pub loops: Vec<Loop>,
    pub cleanups: Vec<Cleanup>,
    /// Number of cleanups outside each arm around this point.
    pub arms: Vec<usize>,
    /// Anonymous barriers of each cobegin or parfor around this point: slot, count.
    pub anonymous: Vec<Vec<(Slot, i64)>>,
}

/// The compiler.
pub struct Compiler<'a> {
    pub file: &'a SourceFile,
    pub code: Code,
    pub classes: Vec<Class<'a>>,
    pub class_ids: HashMap<&'a str, usize>,
    pub functions: HashMap<&'a str, u32>,
    pub externs: HashMap<&'a str, &'a ast::Extern>,
    pub globals: HashMap<&'a str, Global>,
    pub constants: HashMap<&'a str, (Ty, Value)>,
    /// Names of enums.
    pub enums: BTreeSet<&'a str>,
    pub frame: Frame<'a>,
    /// Locals that arms use, by [`Local::declared`]: of the first pass, and those found now.
    pub captured: BTreeSet<u32>,
    pub found: BTreeSet<u32>,
    pub program_barriers: Vec<(u32, i64)>,
    /// The indices of a handle, where its thread is to be called by them.
    pub handle_indices: Option<Vec<(Slot, u32)>>,
}

/// Compiles a program; `inputs` set its `input` constants.
pub fn compile(program: &Program, file: &SourceFile, inputs: &BTreeMap<String, i64>) -> Result<Code> {
    let mut first = Compiler::new(file, BTreeSet::new());
    first.program(program, inputs)?;
    let mut second = Compiler::new(file, first.found);
    second.program(program, inputs)?;
    Ok(second.code)
}

impl<'a> Frame<'a> {
    pub fn new(function: u32, class: Option<usize>, result: Ty) -> Frame<'a> {
        Frame {
            function,
            class,
            result,
            scopes: vec![Vec::new()],
            slots: 0,
            loops: Vec::new(),
            cleanups: Vec::new(),
            arms: Vec::new(),
            anonymous: Vec::new(),
        }
    }

    pub fn slot(&mut self) -> Slot {
        self.slots += 1;
        self.slots - 1
    }
}

impl<'a> Compiler<'a> {
    fn new(file: &'a SourceFile, captured: BTreeSet<u32>) -> Compiler<'a> {
        Compiler {
            file,
            code: Code::default(),
            classes: Vec::new(),
            class_ids: HashMap::new(),
            functions: HashMap::new(),
            externs: HashMap::new(),
            globals: HashMap::new(),
            constants: HashMap::new(),
            enums: BTreeSet::new(),
            frame: Frame::new(0, None, Ty::Void),
            captured,
            found: BTreeSet::new(),
            program_barriers: Vec::new(),
            handle_indices: None,
        }
    }

    /// The value of a constant expression.
    pub fn constant(&mut self, expr: &Expr) -> Option<Value> {
        match &expr.kind {
            ExprKind::Int { value, long: true } => Some(Value::Long(*value)),
            ExprKind::Int { value, long: false } => Some(Value::Int(*value as i32)),
            ExprKind::Double(value) => Some(Value::Double(*value)),
            ExprKind::Bool(value) => Some(Value::Bool(*value)),
            ExprKind::String(text) => Some(Value::Str(self.code.strings.intern(text))),
            ExprKind::Name(name) => self.named_constant(name).map(|(_, value)| value),
            ExprKind::Conditional { condition, then_value, else_value } => {
                let (yes, no) = (self.constant(then_value)?, self.constant(else_value)?);
                Some(if self.constant(condition)?.truth() { yes } else { no })
            }
            ExprKind::Unary { op, operand } => Some(unary(*op, self.constant(operand)?)),
            ExprKind::Binary { op: ast::BinaryOp::And, left, right } => {
                Some(Value::Bool(self.constant(left)?.truth() && self.constant(right)?.truth()))
            }
            ExprKind::Binary { op: ast::BinaryOp::Or, left, right } => {
                Some(Value::Bool(self.constant(left)?.truth() || self.constant(right)?.truth()))
            }
            ExprKind::Binary { op, left, right } => binary(*op, self.constant(left)?, self.constant(right)?).ok(),
            ExprKind::Cast { ty, operand } => {
                let ty = self.ty(ty).ok()?;
                Some(self.constant(operand)?.convert(ty))
            }
            _ => None,
        }
    }

    /// The constant that a name means here, if it means one.
    pub fn named_constant(&self, name: &str) -> Option<(Ty, Value)> {
        let locals = self.frame.scopes.iter().rev().flat_map(|scope| scope.iter().rev());
        if let Some(local) = locals.clone().find(|local| local.name == name) {
            return local.constant.map(|value| (local.ty, value));
        }
        if let Some(class) = self.frame.class {
            let class = &self.classes[class];
            if let Some(&constant) = class.constants.get(name) {
                return Some(constant);
            }
            if class.fields.contains_key(name) {
                return None;
            }
        }
        self.constants.get(name).copied()
    }

    /// The lengths of the dimensions of a declared name.
    pub fn dimensions(&mut self, declarator: &Declarator) -> Result<Vec<u32>> {
        declarator.sizes.iter().map(|size| self.dimension(size, &declarator.name.name)).collect()
    }

    pub fn dimension(&mut self, size: &Expr, name: &str) -> Result<u32> {
        self.constant(size)
            .and_then(|size| u32::try_from(size.long()).ok())
            .filter(|&size| size > 0)
            .ok_or_else(|| format!("array {name} without a constant size"))
    }

    pub fn ty(&self, ty: &TypeName) -> Result<Ty> {
        Ok(match &ty.kind {
            TypeKind::Int => Ty::Int,
            TypeKind::Long => Ty::Long,
            TypeKind::Bool => Ty::Bool,
            TypeKind::Double => Ty::Double,
            TypeKind::String => Ty::Str,
            TypeKind::Void => Ty::Void,
            TypeKind::Lock => Ty::Lock,
            TypeKind::ReentrantLock => Ty::ReentrantLock,
            TypeKind::RwLock => Ty::RwLock,
            TypeKind::Event => Ty::Event,
            TypeKind::Barrier => Ty::Barrier,
            TypeKind::Cond => Ty::Cond,
            TypeKind::Sem => Ty::Sem,
            TypeKind::Thread => Ty::Thread,
            TypeKind::Class(name) if self.enums.contains(name.as_str()) => Ty::Int,
            TypeKind::Class(name) => {
                Ty::Class(*self.class_ids.get(name.as_str()).ok_or_else(|| format!("no class {name}"))?)
            }
        })
    }

    pub fn emit(&mut self, op: Op, place: u32) -> usize {
        self.code.ops.push(op);
        self.code.places.push(place);
        self.code.ops.len() - 1
    }

    /// Lets the jump at `at` go to the next instruction.
    pub fn land(&mut self, at: usize) {
        let here = self.code.ops.len() as u32;
        match &mut self.code.ops[at] {
            Op::Jump(target) | Op::JumpFalse(target) | Op::JumpTrue(target) => *target = here,
            other => unreachable!("{other:?} is no jump"),
        }
    }

    pub fn land_all(&mut self, jumps: Vec<usize>) {
        jumps.into_iter().for_each(|jump| self.land(jump));
    }

    pub fn declare(&mut self, local: Local<'a>) {
        if let Some(scope) = self.frame.scopes.last_mut() {
            scope.push(local);
        }
    }

    /// The local of that name, which this use may mark as captured.
    pub fn local(&mut self, name: &str) -> Option<Local<'a>> {
        let mut known = self.frame.scopes.iter().rev().flat_map(|scope| scope.iter().rev());
        let local = known.find(|local| local.name == name)?.clone();
        if local.depth < self.frame.arms.len() as u32 {
            self.found.insert(local.declared);
        }
        Some(local)
    }

    pub fn name_at(&mut self, name: &str, span: Span) -> u32 {
        let position = self.file.position(span.start);
        self.code.names.intern(&format!("{name}@{position}"))
    }

    pub fn fork(&mut self) -> usize {
        let function = self.frame.function;
        self.code.forks.push(Fork { function, arms: Vec::new(), anonymous: Vec::new(), loop_slot: 0 });
        self.code.forks.len() - 1
    }
}

/// A barrier that nobody has reached.
pub fn barrier_cells(count: i64) -> Vec<CellInit> {
    [Value::Int(0), Value::Long(count)].map(|value| CellInit { value, variable: NONE }).to_vec()
}
