//! Tests as data, and as source text.
//!
//! **Input**: calls, given by the numbers of a [`Subject`]. **Output**: the `main` that makes them ([`TestCase::main`]), and the
//! same test in the form for readers ([`TestCase::source`]).
//!
//! **Algorithm**: main makes the calls of the prefix, then the two threads `a` and `b` make theirs, then main makes the calls of
//! the post part. The caller prints the result. The text of the file is unchanged, so its places are those of the file.

use super::subject::{CallableId, ObjectId, Subject};
use cssame_harness::MainText;
use serde::Serialize;

/// An argument.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Argument {
    /// A value, as source text.
    Value(String),
    /// An object.
    Object(ObjectId),
}

/// A call.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Call {
    /// What is called.
    pub method: CallableId,
    /// The object of a method.
    pub receiver: Option<ObjectId>,
    /// One for each parameter.
    pub arguments: Vec<Argument>,
}

/// What main does behind the two threads.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PostStep {
    /// A call.
    Call(Call),
    /// A public field is printed.
    Field(ObjectId, String),
    /// A variable of the file is printed.
    Global(String),
    /// A call that has to give true.
    Invariant(Call),
}

/// A test.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TestCase {
    /// What main calls first.
    pub prefix: Vec<Call>,
    /// What the two threads call.
    pub suffixes: [Vec<Call>; 2],
    /// What main does behind them.
    pub post: Vec<PostStep>,
}

/// A part of a test, and the place in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CallPlace {
    /// In the prefix.
    Prefix(usize),
    /// In the calls of a thread.
    Suffix(usize, usize),
    /// In the post part.
    Post(usize),
}

/// A test as a reader sees it: each call as source text, without the statement around it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TestSource {
    /// `A o`
    pub objects: Vec<String>,
    /// `o.set(3)`
    pub prefix: Vec<String>,
    /// Of each thread.
    pub suffixes: [Vec<String>; 2],
    /// `o.get()`; `o.f` for a field, and `assert(o.isValid())` for an invariant.
    pub post: Vec<String>,
}

impl Call {
    /// `o.set(3)`
    #[must_use]
    pub fn source(&self, subject: &Subject<'_>) -> String {
        let receiver = self.receiver.map_or_else(String::new, |object| format!("{}.", subject.objects[object].name));
        let argument = |argument: &Argument| match argument {
            Argument::Value(value) => value.clone(),
            Argument::Object(object) => subject.objects[*object].name.clone(),
        };
        let arguments: Vec<String> = self.arguments.iter().map(argument).collect();
        format!("{receiver}{}({})", subject.methods[self.method].name, arguments.join(", "))
    }

    fn statement(&self, subject: &Subject<'_>) -> String {
        let call = self.source(subject);
        if subject.prints && subject.methods[self.method].result.is_some() {
            format!("print({call});")
        } else {
            format!("{call};")
        }
    }

    fn objects(&self) -> impl Iterator<Item = ObjectId> + '_ {
        let arguments = self.arguments.iter().filter_map(|argument| match argument {
            Argument::Object(object) => Some(*object),
            Argument::Value(_) => None,
        });
        self.receiver.into_iter().chain(arguments)
    }
}

impl PostStep {
    /// The call, where it is one.
    #[must_use]
    pub fn call(&self) -> Option<&Call> {
        match self {
            PostStep::Call(call) | PostStep::Invariant(call) => Some(call),
            PostStep::Field(..) | PostStep::Global(_) => None,
        }
    }

    fn source(&self, subject: &Subject<'_>) -> String {
        match self {
            PostStep::Call(call) => call.source(subject),
            PostStep::Field(object, field) => format!("{}.{field}", subject.objects[*object].name),
            PostStep::Global(name) => name.clone(),
            PostStep::Invariant(call) => format!("assert({})", call.source(subject)),
        }
    }

    fn statement(&self, subject: &Subject<'_>) -> String {
        match self {
            PostStep::Call(call) => call.statement(subject),
            PostStep::Field(..) | PostStep::Global(_) => format!("print({});", self.source(subject)),
            PostStep::Invariant(_) => format!("{};", self.source(subject)),
        }
    }
}

impl TestCase {
    /// All calls.
    pub fn calls(&self) -> impl Iterator<Item = &Call> {
        self.prefix.iter().chain(self.suffixes.iter().flatten()).chain(self.post.iter().filter_map(PostStep::call))
    }

    /// How many calls there are, steps of the post part that are none included.
    #[must_use]
    pub fn length(&self) -> usize {
        self.prefix.len() + self.suffixes.iter().map(Vec::len).sum::<usize>() + self.post.len()
    }

    /// How many calls each thread makes.
    #[must_use]
    pub fn parallel_calls(&self) -> [u32; 2] {
        [0, 1].map(|thread| self.suffixes[thread].len() as u32)
    }

    /// The objects that it uses, in order.
    #[must_use]
    pub fn objects(&self) -> Vec<ObjectId> {
        let fields = self.post.iter().filter_map(|step| match step {
            PostStep::Field(object, _) => Some(*object),
            PostStep::Call(_) | PostStep::Global(_) | PostStep::Invariant(_) => None,
        });
        let mut objects: Vec<ObjectId> = self.calls().flat_map(Call::objects).chain(fields).collect();
        objects.sort_unstable();
        objects.dedup();
        objects
    }

    /// The test as a reader sees it.
    #[must_use]
    pub fn source(&self, subject: &Subject<'_>) -> TestSource {
        let calls = |calls: &[Call]| calls.iter().map(|call| call.source(subject)).collect();
        TestSource {
            objects: self.declared(subject, None),
            prefix: calls(&self.prefix),
            suffixes: [0, 1].map(|thread| calls(&self.suffixes[thread])),
            post: self.post.iter().map(|step| step.source(subject)).collect(),
        }
    }

    /// A part of it as source text.
    #[must_use]
    pub fn source_of(&self, subject: &Subject<'_>, place: CallPlace) -> Option<String> {
        match place {
            CallPlace::Prefix(place) => self.prefix.get(place).map(|call| call.source(subject)),
            CallPlace::Suffix(thread, place) => self.suffixes.get(thread)?.get(place).map(|call| call.source(subject)),
            CallPlace::Post(place) => self.post.get(place).map(|step| step.source(subject)),
        }
    }

    /// The `main` that makes the calls; on objects of another class, where one stands for the class under test.
    #[must_use]
    pub fn main(&self, subject: &Subject<'_>, instead: Option<&str>) -> MainText {
        let calls = |calls: &[Call]| calls.iter().map(|call| call.statement(subject)).collect();
        MainText {
            objects: self.declared(subject, instead).into_iter().map(|object| object + ";").collect(),
            before: calls(&self.prefix),
            labels: subject.labels.clone(),
            calls: [0, 1].map(|thread| calls(&self.suffixes[thread])),
            after: self.post.iter().map(|step| step.statement(subject)).collect(),
        }
    }

    /// `A o`
    fn declared(&self, subject: &Subject<'_>, instead: Option<&str>) -> Vec<String> {
        let class = |class: &str| match instead {
            Some(other) if subject.class.as_deref() == Some(class) => other.to_owned(),
            _ => class.to_owned(),
        };
        let objects = self.objects().into_iter().map(|object| &subject.objects[object]);
        let mut declared: Vec<String> = Vec::new();
        for line in objects.flat_map(|object| subject.file.object_declarations(&class(&object.class), &object.name)) {
            if !declared.contains(&line) {
                declared.push(line);
            }
        }
        declared
    }
}
