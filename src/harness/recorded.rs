//! Contexts that begin in a state which an execution of the file's own `main` has reached.
//!
//! **Input**: two methods of a file with a `main`, statements that bring the variables into a state, and the arguments of the two
//! calls. **Output**: the file without its `main`, followed by another one: the statements, then the two calls in parallel.
//!
//! **Algorithm**: the text of `main` is replaced by blanks, byte by byte, so that all places stay those of the file. The line
//! [`MARK`] follows. After it private fields may be used, since the statements set them.
//!
//! **Soundness and limits**: objects are declared in the file, at top level or as fields of such objects. Strings are not
//! arguments.

use super::contexts::Context;
use super::methods::Methods;
use super::writer::{MainText, ValueOrder, Writer, call, labels};
use cssame_front::PRIVATE_FIELDS_BEHIND as MARK;
use cssame_front::csm::syntax::ast::{Item, MemberKind, StmtKind, TypeKind};
use cssame_source::Span;

/// An argument of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    /// A value, as bits.
    Value(i64),
    /// The first part of an object: `acc.balance`, `L`.
    Object(String),
}

impl Methods<'_> {
    /// The program in which two methods, given by the places of their names, are called in parallel in a state that statements
    /// bring about. The receiver of a method is its first argument. Nothing where an argument cannot be written.
    #[must_use]
    pub fn recorded(&self, methods: [Span; 2], before: Vec<String>, arguments: [&[Argument]; 2]) -> Option<Context> {
        let [first, second] = [0, 1].map(|index| self.recorded_call(methods[index], arguments[index]));
        let calls = [first?, second?].map(|call| vec![call + ";"]);
        let text = MainText { objects: Vec::new(), before, labels: labels(), calls, after: Vec::new() }.text();
        let main = format!("{MARK}{text}");
        let file = self.without_main();
        Some(Context { text: Writer::new(&file, ValueOrder::LiteralsFirst).append(&main), main })
    }

    fn recorded_call(&self, method: Span, arguments: &[Argument]) -> Option<String> {
        let one = self.callables().into_iter().find(|one| one.function.name.span == method)?;
        let mut rest = arguments.iter();
        let receiver = match one.class_name() {
            Some(class) => Some(self.object(rest.next()?, class)?),
            None => None,
        };
        let parameters = &one.function.parameters;
        if rest.len() != parameters.len() {
            return None;
        }
        let texts =
            parameters.iter().zip(rest).map(|(parameter, argument)| self.argument(&parameter.ty.kind, argument));
        Some(call(receiver.as_deref(), one, &texts.collect::<Option<Vec<_>>>()?))
    }

    fn argument(&self, ty: &TypeKind, argument: &Argument) -> Option<String> {
        let Argument::Value(bits) = *argument else { return None };
        Some(match ty {
            TypeKind::Int if bits as i32 == i32::MIN => return None,
            TypeKind::Int => (bits as i32).to_string(),
            TypeKind::Long if bits == i64::MIN => return None,
            TypeKind::Long => format!("{bits}L"),
            TypeKind::Bool => (bits != 0).to_string(),
            TypeKind::Double => {
                Some(f64::from_bits(bits as u64)).filter(|value| value.is_finite()).map(|value| format!("{value:?}"))?
            }
            _ => return None,
        })
    }

    /// The object of a class that begins with a part: `bank.first` for `bank.first.balance`.
    fn object(&self, argument: &Argument, class: &str) -> Option<String> {
        let Argument::Object(part) = argument else { return None };
        let mut path = part.as_str();
        loop {
            path = path.rsplit_once('.')?.0;
            if self.class_of(path) == Some(class) {
                return Some(path.to_owned());
            }
        }
    }

    /// The class of a declared object or of a field of one.
    fn class_of(&self, path: &str) -> Option<&str> {
        let mut names = path.split('.');
        let root = names.next()?;
        let declared = self.parsed.items.iter().find_map(|item| match item {
            Item::Statement(statement) => match &statement.kind {
                StmtKind::Declare(of) if of.declarators.iter().any(|one| one.name.name == root) => Some(&of.ty.kind),
                _ => None,
            },
            _ => None,
        });
        let mut ty = declared?;
        for name in names {
            let TypeKind::Class(class) = ty else { return None };
            let mut fields = self.parsed.items.iter().filter_map(|item| match item {
                Item::Class(found) if found.name.name == *class => Some(&found.members),
                _ => None,
            });
            ty = fields.next()?.iter().find_map(|member| match &member.kind {
                MemberKind::Field(of) if of.declarators.iter().any(|one| one.name.name == name) => Some(&of.ty.kind),
                _ => None,
            })?;
        }
        match ty {
            TypeKind::Class(class) => Some(class),
            _ => None,
        }
    }

    /// The text with blanks where `main` was.
    fn without_main(&self) -> String {
        let mut bytes = self.text.as_bytes().to_vec();
        for item in &self.parsed.items {
            let span = match item {
                Item::Function(function) if function.name.name == "main" => function.span,
                Item::Statement(statement) if !matches!(statement.kind, StmtKind::Declare(_)) => statement.span,
                _ => continue,
            };
            let range = span.start as usize..(span.end as usize).min(bytes.len());
            for byte in bytes.get_mut(range).into_iter().flatten().filter(|byte| **byte != b'\n') {
                *byte = b' ';
            }
        }
        String::from_utf8(bytes).unwrap_or_default()
    }
}
