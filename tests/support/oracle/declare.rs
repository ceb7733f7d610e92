//! Declarations to [`Code`](super::code::Code): classes, globals, functions, and the code of the main thread.

use super::arrays::elements;
use super::code::{CellInit, Function, Method, NONE, Op, Shape, Slot, Variable};
use super::compile::{Class, Compiler, Field, Frame, Global, Local, Result, barrier_cells};
use super::value::{Ty, Value};
use cssame::front::csm::syntax::ast::{
    self, Declaration, Declarator, Expr, ExprKind, Initialiser, Item, MemberKind, Program, StmtKind,
};
use std::collections::BTreeMap;

impl<'a> Compiler<'a> {
    /// The whole program.
    pub fn program(&mut self, program: &'a Program, inputs: &BTreeMap<String, i64>) -> Result<()> {
        // A spawned function returns to instruction 0: behind it, its result is dropped and its thread ends.
        for op in [Op::End, Op::Pop, Op::End] {
            self.emit(op, 0);
        }
        self.constants(program, inputs)?;
        self.declare_classes(program)?;
        for item in &program.items {
            match item {
                Item::Function(function) => self.declare_function(function, None)?,
                Item::Extern(external) => {
                    self.externs.insert(&external.name.name, external);
                }
                Item::Statement(ast::Stmt { kind: StmtKind::Declare(declaration), .. }) => {
                    for declarator in &declaration.declarators {
                        self.declare_global(declaration, declarator)?;
                    }
                }
                Item::Error(_) => return Err("a syntax error".to_owned()),
                _ => {}
            }
        }
        self.bodies(program)?;
        self.main(program)
    }

    /// Inputs, enumerators and constants, again and again until no more of them can be evaluated.
    fn constants(&mut self, program: &'a Program, inputs: &BTreeMap<String, i64>) -> Result<()> {
        let enums = program.items.iter().flat_map(|item| match item {
            Item::Enum(of) => vec![of],
            Item::Class(class) => class.members.iter().filter_map(enum_of).collect(),
            _ => Vec::new(),
        });
        self.enums = enums.filter_map(|of| of.name.as_ref()).map(|name| name.name.as_str()).collect();
        loop {
            let known = self.constants.len();
            for item in &program.items {
                match item {
                    Item::Input(input) => {
                        let ty = self.ty(&input.ty)?;
                        let value = match inputs.get(&input.name.name) {
                            Some(&value) => Some(Value::Long(value)),
                            None => self.constant(&input.value),
                        };
                        let known = value.map(|value| (input.name.name.as_str(), (ty, value.convert(ty))));
                        self.constants.extend(known);
                    }
                    Item::Enum(of) => {
                        let found = self.enumerators(of);
                        self.constants.extend(found);
                    }
                    Item::Statement(ast::Stmt { kind: StmtKind::Declare(declaration), .. }) => {
                        for declarator in &declaration.declarators {
                            let found = self.constant_of(declaration, declarator);
                            self.constants.extend(found.map(|found| (declarator.name.name.as_str(), found)));
                        }
                    }
                    _ => {}
                }
            }
            if self.constants.len() == known {
                return Ok(());
            }
        }
    }

    /// The enumerators whose values can be told.
    fn enumerators(&mut self, of: &'a ast::Enum) -> Vec<(&'a str, (Ty, Value))> {
        let mut found = Vec::new();
        let mut next = Some(0);
        for enumerator in &of.enumerators {
            let value = match &enumerator.value {
                Some(value) => self.constant(value).map(Value::long),
                None => next,
            };
            next = value.map(|value| value + 1);
            found.extend(value.map(|value| (enumerator.name.name.as_str(), (Ty::Int, Value::Int(value as i32)))));
        }
        found
    }

    /// The value of a named constant; none of a variable.
    pub fn constant_of(&mut self, declaration: &Declaration, declarator: &Declarator) -> Option<(Ty, Value)> {
        let Some(Initialiser::Value(value)) = &declarator.initialiser else { return None };
        if !declaration.constant || !declarator.sizes.is_empty() {
            return None;
        }
        let ty = self.ty(&declaration.ty).ok()?;
        Some((ty, self.constant(value)?.convert(ty)))
    }

    /// The constants of a class, in the order of the text.
    fn class_constants(&mut self, id: usize, class: &'a ast::Class) {
        self.frame = Frame::new(0, Some(id), Ty::Void);
        for member in &class.members {
            match &member.kind {
                MemberKind::Enum(of) => {
                    // One by one: each may use those before.
                    for count in 1..=of.enumerators.len() {
                        let first = ast::Enum { enumerators: of.enumerators[..count].to_vec(), ..of.clone() };
                        let value = self.last_enumerator(&first);
                        let name = of.enumerators[count - 1].name.name.as_str();
                        self.classes[id].constants.extend(value.map(|value| (name, value)));
                    }
                }
                MemberKind::Field(declaration) => {
                    for declarator in &declaration.declarators {
                        let found = self.constant_of(declaration, declarator);
                        let found = found.map(|found| (declarator.name.name.as_str(), found));
                        self.classes[id].constants.extend(found);
                    }
                }
                _ => {}
            }
        }
    }

    fn last_enumerator(&mut self, of: &ast::Enum) -> Option<(Ty, Value)> {
        let mut next = Some(0);
        let mut last = None;
        for enumerator in &of.enumerators {
            last = match &enumerator.value {
                Some(value) => self.constant(value).map(Value::long),
                None => next,
            };
            next = last.map(|value| value + 1);
        }
        last.map(|value| (Ty::Int, Value::Int(value as i32)))
    }

    fn declare_classes(&mut self, program: &'a Program) -> Result<()> {
        let classes: Vec<&ast::Class> = program
            .items
            .iter()
            .filter_map(|item| if let Item::Class(class) = item { Some(class) } else { None })
            .collect();
        for (id, class) in classes.iter().enumerate() {
            self.class_ids.insert(&class.name.name, id);
            self.classes.push(Class::default());
        }
        for (id, class) in classes.iter().enumerate() {
            self.class_constants(id, class);
            for member in &class.members {
                match &member.kind {
                    MemberKind::Field(declaration) => {
                        for declarator in &declaration.declarators {
                            if self.classes[id].constants.contains_key(declarator.name.name.as_str()) {
                                continue;
                            }
                            let (ty, dims) = (self.ty(&declaration.ty)?, self.dimensions(declarator)?);
                            let field = Field { ty, dims, atomic: declaration.atomic, offset: 0, declarator };
                            self.classes[id].order.push(&declarator.name.name);
                            self.classes[id].fields.insert(&declarator.name.name, field);
                        }
                    }
                    MemberKind::Method(method) => {
                        let name = format!("{}.{}", class.name.name, method.name.name);
                        let function = self.code.functions.len() as u32;
                        self.code.methods.insert(function, Method { name, public: member.public });
                        self.declare_function(method, Some(id))?;
                    }
                    MemberKind::Constructor(_) | MemberKind::Enum(_) => {}
                    MemberKind::Error(_) => return Err("a syntax error".to_owned()),
                }
            }
        }
        self.frame = Frame::new(0, None, Ty::Void);
        (0..classes.len()).try_for_each(|id| self.lay_out(id, 0))?;
        (0..classes.len()).try_for_each(|id| self.declare_constructor(id, classes[id], &classes))
    }

    /// A function for the construction of objects, where something is to be done.
    fn declare_constructor(&mut self, id: usize, class: &'a ast::Class, classes: &[&'a ast::Class]) -> Result<()> {
        if !self.is_constructed(id, classes) {
            return Ok(());
        }
        let mut parameters = vec![(Ty::Class(id), Vec::new())];
        for parameter in constructor_of(class).iter().flat_map(|function| &function.parameters) {
            parameters.push(self.shape(parameter)?);
        }
        let function = self.code.functions.len() as u32;
        let name = format!("{0}.{0}", class.name.name);
        self.code.methods.insert(function, Method { name, public: false });
        self.code.functions.push(Function { entry: 0, parameters, result: Ty::Void, slots: 0 });
        self.classes[id].constructor = Some(function);
        Ok(())
    }

    fn is_constructed(&self, id: usize, classes: &[&ast::Class]) -> bool {
        let mut fields = self.classes[id].fields.values();
        constructor_of(classes[id]).is_some()
            || fields.any(|field| matches!(field.ty, Ty::Class(inner) if self.is_constructed(inner, classes)))
    }

    /// Constructs the object whose reference `push` pushes.
    pub fn construct(&mut self, ty: Ty, declarator: &'a Declarator, push: &[Op]) -> Result<()> {
        let Ty::Class(class) = ty else { return Ok(()) };
        let Some(function) = self.classes[class].constructor else { return Ok(()) };
        let place = declarator.name.span.start;
        let arguments: &[Expr] = match &declarator.initialiser {
            Some(Initialiser::Arguments(arguments)) => arguments,
            _ => &[],
        };
        let parameters = self.code.functions[function as usize].parameters.clone();
        if parameters.len() != arguments.len() + 1 {
            return Err("an object without the arguments of its constructor".to_owned());
        }
        // The elements of an array are constructed in order, with the same arguments.
        self.arguments(&parameters[1..], arguments)?;
        let slots: Vec<Slot> = arguments.iter().map(|_| self.frame.slot()).collect();
        for &slot in slots.iter().rev() {
            self.emit(Op::StoreSlot(slot), place);
        }
        let elements: u32 = self.dimensions(declarator)?.iter().product();
        for element in 0..elements {
            let offset = Op::Offset(element * self.classes[class].size);
            let object = push.iter().copied().chain([offset]);
            let pushed = slots.iter().map(|&slot| Op::LoadSlot(slot));
            for op in [Op::Frame].into_iter().chain(object).chain(pushed) {
                self.emit(op, place);
            }
            self.emit(Op::Call { function, arguments: parameters.len() as u32 }, place);
            self.emit(Op::Pop, place);
        }
        Ok(())
    }

    fn constructor_body(&mut self, class: &'a ast::Class, class_id: usize, id: u32) -> Result<()> {
        let function = constructor_of(class);
        let place = function.map_or(class.span.start, |function| function.span.start);
        self.frame = Frame::new(id, Some(class_id), Ty::Void);
        let entry = self.begin_function(id, place);
        self.frame.slot();
        let parameters = function.map_or(&[][..], |function| &function.parameters);
        let slots: Vec<Slot> = parameters.iter().map(|_| self.frame.slot()).collect();
        for name in self.classes[class_id].order.clone() {
            let Field { ty, offset, declarator, .. } = self.classes[class_id].fields[name];
            self.construct(ty, declarator, &[Op::LoadSlot(0), Op::Offset(offset)])?;
        }
        for (parameter, slot) in parameters.iter().zip(slots) {
            self.declare_parameter(parameter, slot)?;
        }
        if let Some(function) = function {
            self.statements(&function.body.statements)?;
        }
        let zero = Ty::Void.zero(&mut self.code.strings);
        self.emit(Op::Push(zero), place);
        self.emit(Op::Return, place);
        self.end_function(id, entry);
        Ok(())
    }

    fn lay_out(&mut self, class: usize, depth: u32) -> Result<()> {
        if depth > 100 {
            return Err("a class that holds itself".to_owned());
        }
        let mut offset = 0;
        for name in self.classes[class].order.clone() {
            let Field { ty, dims, .. } = self.classes[class].fields[name].clone();
            if let Ty::Class(inner) = ty {
                self.lay_out(inner, depth + 1)?;
            }
            let size = self.size(ty, &dims);
            if let Some(field) = self.classes[class].fields.get_mut(name) {
                field.offset = offset;
            }
            offset += size;
        }
        self.classes[class].size = offset;
        Ok(())
    }

    pub fn size(&self, ty: Ty, dims: &[u32]) -> u32 {
        let one = match ty {
            Ty::Class(class) => self.classes[class].size,
            // Who has arrived, and how many it takes.
            Ty::Barrier => 2,
            _ => 1,
        };
        dims.iter().fold(one, |size, len| size * len)
    }

    fn declare_function(&mut self, function: &'a ast::Function, class: Option<usize>) -> Result<()> {
        let id = self.code.functions.len() as u32;
        let mut parameters: Vec<Shape> = class.map(|class| (Ty::Class(class), Vec::new())).into_iter().collect();
        for parameter in &function.parameters {
            parameters.push(self.shape(parameter)?);
        }
        let result = self.ty(&function.result)?;
        self.code.functions.push(Function { entry: 0, parameters, result, slots: 0 });
        match class {
            Some(class) => self.classes[class].methods.insert(&function.name.name, id),
            None => self.functions.insert(&function.name.name, id),
        };
        Ok(())
    }

    fn declare_global(&mut self, declaration: &Declaration, declarator: &'a Declarator) -> Result<()> {
        if self.constant_of(declaration, declarator).is_some() {
            return Ok(());
        }
        let (ty, dims) = (self.ty(&declaration.ty)?, self.dimensions(declarator)?);
        let address = self.code.cells.len() as u32;
        let cells = self.cells((ty, declaration.atomic), declarator, &declarator.name.name, true)?;
        self.code.cells.extend(cells);
        self.globals.insert(&declarator.name.name, Global { ty, dims, address });
        Ok(())
    }

    /// The cells of a declared name, with its constant initialiser if it has one. Its type comes with whether it is
    /// declared `atomic`.
    pub fn cells(
        &mut self,
        (ty, atomic): (Ty, bool),
        declarator: &Declarator,
        name: &str,
        candidate: bool,
    ) -> Result<Vec<CellInit>> {
        let dims = self.dimensions(declarator)?;
        let count = dims.iter().product::<u32>() as usize;
        if let Ty::Class(class) = ty {
            let mut cells = Vec::new();
            for field in self.classes[class].order.clone() {
                let Field { ty, atomic, declarator, .. } = self.classes[class].fields[field].clone();
                cells.extend(self.cells((ty, atomic), declarator, &format!("{name}.{field}"), true)?);
            }
            return Ok(cells.repeat(count));
        }
        let first = match &declarator.initialiser {
            Some(Initialiser::Value(value)) => self.constant(value),
            Some(Initialiser::Arguments(values)) => values.first().and_then(|value| self.constant(value)),
            _ => None,
        };
        if ty == Ty::Barrier {
            let threads = first.ok_or("a barrier without a constant count")?;
            return Ok(barrier_cells(threads.long()).repeat(count));
        }
        let zero = ty.zero(&mut self.code.strings);
        let first = first.map_or(zero, |value| if ty.is_data() { value.convert(ty) } else { value });
        if !ty.is_data() {
            return Ok(vec![CellInit { value: first, variable: NONE }; count]);
        }
        let variable = self.variable(name, candidate, atomic);
        self.code.variables[variable as usize].handle = ty == Ty::Thread;
        let mut cells = vec![CellInit { value: first, variable }; count];
        for (place, value) in elements(&dims, declarator.initialiser.as_ref()) {
            cells[place].value = self.constant(value).map_or(cells[place].value, |value| value.convert(ty));
        }
        Ok(cells)
    }

    pub fn variable(&mut self, name: &str, candidate: bool, atomic: bool) -> u32 {
        let initial = self.code.names.intern(&format!("{name}@initial"));
        self.code.variables.push(Variable { name: name.to_owned(), initial, candidate, atomic, handle: false });
        self.code.variables.len() as u32 - 1
    }

    fn bodies(&mut self, program: &'a Program) -> Result<()> {
        for item in &program.items {
            match item {
                Item::Function(function) => {
                    let id = self.functions[function.name.name.as_str()];
                    self.body(function, id, None)?;
                }
                Item::Class(class) => {
                    let class_id = self.class_ids[class.name.name.as_str()];
                    if let Some(id) = self.classes[class_id].constructor {
                        self.constructor_body(class, class_id, id)?;
                    }
                    for member in &class.members {
                        if let MemberKind::Method(method) = &member.kind {
                            let id = self.classes[class_id].methods[method.name.name.as_str()];
                            self.body(method, id, Some(class_id))?;
                        }
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn body(&mut self, function: &'a ast::Function, id: u32, class: Option<usize>) -> Result<()> {
        let result = self.code.functions[id as usize].result;
        let place = function.span.start;
        self.frame = Frame::new(id, class, result);
        let entry = self.begin_function(id, place);
        if class.is_some() {
            self.frame.slot();
        }
        let slots: Vec<Slot> = function.parameters.iter().map(|_| self.frame.slot()).collect();
        for (parameter, slot) in function.parameters.iter().zip(slots) {
            self.declare_parameter(parameter, slot)?;
        }
        self.statements(&function.body.statements)?;
        let zero = result.zero(&mut self.code.strings);
        self.emit(Op::Push(zero), place);
        self.emit(Op::Return, place);
        self.end_function(id, entry);
        Ok(())
    }

    fn declare_parameter(&mut self, parameter: &'a ast::Parameter, slot: Slot) -> Result<()> {
        let (ty, dims) = self.shape(parameter)?;
        let (name, declared) = (parameter.name.name.as_str(), parameter.name.span.start);
        if ty.is_data() && dims.is_empty() && self.captured.contains(&declared) {
            let variable = self.variable(name, true, false);
            let boxed = self.frame.slot();
            self.emit(Op::LoadSlot(slot), declared);
            self.emit(Op::Box { slot: boxed, variable }, declared);
            self.declare(Local { name, ty, dims, slot: boxed, boxed: true, depth: 0, declared, constant: None });
        } else {
            let boxed = !ty.is_data() || !dims.is_empty();
            self.declare(Local { name, ty, dims, slot, boxed, depth: 0, declared, constant: None });
        }
        Ok(())
    }

    /// The type of a parameter; the first dimension of an array is not known.
    fn shape(&mut self, parameter: &ast::Parameter) -> Result<Shape> {
        let dimension = |size: &Option<Expr>| match size {
            Some(size) => self.dimension(size, &parameter.name.name),
            None => Ok(NONE),
        };
        let dims = parameter.sizes.iter().map(dimension).collect::<Result<_>>()?;
        Ok((self.ty(&parameter.ty)?, dims))
    }

    fn begin_function(&mut self, id: u32, place: u32) -> usize {
        self.code.functions[id as usize].entry = self.code.ops.len() as u32;
        self.emit(Op::Enter(0), place)
    }

    fn end_function(&mut self, id: u32, entry: usize) {
        self.code.ops[entry] = Op::Enter(self.frame.slots);
        self.code.functions[id as usize].slots = self.frame.slots;
    }

    /// The code of the main thread: initialisers and statements in the order of the text, then `main` if there is one.
    fn main(&mut self, program: &'a Program) -> Result<()> {
        let id = self.code.functions.len() as u32;
        self.code.functions.push(Function { entry: 0, parameters: Vec::new(), result: Ty::Void, slots: 0 });
        self.frame = Frame::new(id, None, Ty::Void);
        let entry = self.begin_function(id, 0);
        self.code.entry = entry as u32;
        let mut statements = 0;
        for item in &program.items {
            let Item::Statement(statement) = item else { continue };
            if let StmtKind::Declare(declaration) = &statement.kind {
                declaration.declarators.iter().try_for_each(|declarator| self.initialise_global(declarator))?;
            } else {
                statements += 1;
                self.statement(statement)?;
            }
        }
        match self.functions.get("main") {
            Some(&function) => {
                self.emit(Op::Frame, 0);
                self.emit(Op::Call { function, arguments: 0 }, 0);
                self.emit(Op::Pop, 0);
            }
            None if statements == 0 => return Err("there is no main".to_owned()),
            None => {}
        }
        self.emit(Op::End, self.file.text().len() as u32);
        self.end_function(id, entry);
        Ok(())
    }

    fn initialise_global(&mut self, declarator: &'a Declarator) -> Result<()> {
        // A named constant has nothing to do.
        let Some(Global { ty, address, dims }) = self.globals.get(declarator.name.name.as_str()).cloned() else {
            return Ok(());
        };
        let place = declarator.name.span.start;
        self.construct(ty, declarator, &[Op::Push(Value::Ref(address))])?;
        match &declarator.initialiser {
            Some(Initialiser::Value(Expr { kind: ExprKind::Spawn(call), .. })) => {
                self.emit(Op::Push(Value::Ref(address)), place);
                let label = self.label(&declarator.name.name);
                self.spawn(call, Some(label), place)?;
                self.emit(Op::StoreInitial { step: true }, place);
                Ok(())
            }
            Some(Initialiser::Value(value)) if ty.is_data() && self.constant(value).is_none() => {
                self.emit(Op::Push(Value::Ref(address)), place);
                self.convert(value, ty)?;
                self.emit(Op::StoreInitial { step: true }, place);
                Ok(())
            }
            initialiser @ Some(Initialiser::List(_) | Initialiser::Rows(_)) => {
                for (index, value) in elements(&dims, initialiser.as_ref()) {
                    if self.constant(value).is_none() {
                        self.emit(Op::Push(Value::Ref(address + index as u32)), place);
                        self.convert(value, ty)?;
                        self.emit(Op::StoreInitial { step: true }, place);
                    }
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

fn enum_of(member: &ast::Member) -> Option<&ast::Enum> {
    match &member.kind {
        MemberKind::Enum(of) => Some(of),
        _ => None,
    }
}

fn constructor_of(class: &ast::Class) -> Option<&ast::Function> {
    class.members.iter().find_map(|member| match &member.kind {
        MemberKind::Constructor(function) => Some(function),
        _ => None,
    })
}
