//! The material of tests: the methods of a class, objects that they can be called on, and values.
//!
//! **Input**: the methods of a file, and the class under test. **Output**: a [`Subject`].
//!
//! **Algorithm**: there is one object of the class, which both threads use, and a second one if some method takes an object of
//! the class. There is also an object of each other class that the methods take. Threads call the methods of the class, and
//! functions that take an object of it. Before the threads start, methods of the other objects may be called too.
//!
//! **Soundness and limits**: methods that take a synchronisation object or a thread are not called. If there is no class under
//! test, the functions of the file that need no object are called.

use super::values::Values;
use cssame_harness::{Methods, ParameterType, Signature};
use cssame_source::arena::{Arena, id};

id! {
    /// A method or function that tests may call.
    CallableId
}
id! {
    /// An object of a test.
    ObjectId
}

/// An object of a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// Its class.
    pub class: String,
    /// Its name, which the file does not use.
    pub name: String,
    /// Its public fields that can be printed.
    pub fields: Vec<String>,
}

/// The class under test.
#[derive(Debug)]
pub struct Subject<'a> {
    /// The file.
    pub file: &'a Methods<'a>,
    /// The class; none for the functions of the file.
    pub class: Option<String>,
    /// What tests may call.
    pub methods: Arena<CallableId, Signature>,
    /// Those that the two threads may call.
    pub parallel: Vec<CallableId>,
    /// The objects, the one of the class under test first.
    pub objects: Arena<ObjectId, Object>,
    /// Arguments.
    pub values: Values,
    /// Whether results can be printed.
    pub prints: bool,
    /// What the two threads are called.
    pub labels: [String; 2],
}

/// Names of objects, before the file is asked whether it uses them.
const NAMES: [&str; 8] = ["o", "p", "q", "r", "s", "t", "u", "v"];

impl<'a> Subject<'a> {
    /// Those of a file: each class with public methods, and the functions that need no object.
    #[must_use]
    pub fn all(file: &'a Methods<'a>) -> Vec<Subject<'a>> {
        let signatures = file.signatures();
        let mut classes: Vec<Option<String>> = Vec::new();
        for one in &signatures {
            let needs_object = one.parameters.iter().any(|parameter| matches!(parameter, ParameterType::Object(_)));
            let is_wanted = one.is_callable() && (one.class.is_some() || !needs_object);
            if is_wanted && !classes.contains(&one.class) {
                classes.push(one.class.clone());
            }
        }
        classes.sort_by_key(Option::is_none);
        classes.into_iter().map(|class| Subject::new(file, class, &signatures)).collect()
    }

    /// That of a class.
    fn new(file: &'a Methods<'a>, class: Option<String>, signatures: &[Signature]) -> Subject<'a> {
        let takes = |one: &Signature, class: &str| {
            one.parameters.iter().any(|parameter| *parameter == ParameterType::Object(class.to_owned()))
        };
        let needs_object =
            |one: &Signature| one.parameters.iter().any(|parameter| matches!(parameter, ParameterType::Object(_)));
        let is_parallel = |one: &Signature| match &class {
            Some(class) => one.class.as_ref() == Some(class) || takes(one, class),
            None => one.class.is_none() && !needs_object(one),
        };
        let callable = || signatures.iter().filter(|one| one.is_callable());
        let used: Vec<&str> = objects_used(callable().filter(|one| is_parallel(one)), class.as_deref());
        let mut methods = Arena::new();
        let mut parallel = Vec::new();
        for one in callable() {
            let has_receiver = one.class.as_deref().is_none_or(|class| used.contains(&class));
            let has_objects = one.parameters.iter().all(|parameter| match parameter {
                ParameterType::Object(class) => used.contains(&class.as_str()),
                ParameterType::Value(_) | ParameterType::Other => true,
            });
            let is_of_use = one.class.is_some() || needs_object(one) || class.is_none();
            if has_receiver && has_objects && (is_parallel(one) || is_of_use) {
                let id = methods.push(one.clone());
                if is_parallel(one) {
                    parallel.push(id);
                }
            }
        }
        let is_taken = |class: &str| callable().any(|one| is_parallel(one) && takes(one, class));
        let mut objects: Arena<ObjectId, Object> = Arena::new();
        for (place, &of) in used.iter().enumerate() {
            let is_first = class.as_deref() == Some(of);
            let copies = if is_first && is_taken(of) { 2 } else { 1 };
            for _ in 0..copies {
                let name = NAMES.get(objects.len()).map_or_else(|| format!("o{place}"), |&name| name.to_owned());
                let fields = file.public_fields(of).into_iter().map(str::to_owned).collect();
                objects.push(Object { class: of.to_owned(), name: file.new_name(&name), fields });
            }
        }
        let (values, prints, labels) = (Values::new(&file.values()), file.prints(), file.thread_names(["a", "b"]));
        Subject { file, class, methods, parallel, objects, values, prints, labels }
    }

    /// The objects of a class.
    pub fn objects_of<'b>(&'b self, class: &'b str) -> impl Iterator<Item = ObjectId> + 'b {
        self.objects.entries().filter(move |(_, object)| object.class == class).map(|(id, _)| id)
    }

    /// The name that users read: the class, or what stands for it.
    #[must_use]
    pub fn name(&self) -> &str {
        self.class.as_deref().unwrap_or("functions")
    }
}

/// The class under test, then the others whose objects are needed to call these.
fn objects_used<'b>(called: impl Iterator<Item = &'b Signature>, class: Option<&'b str>) -> Vec<&'b str> {
    let mut used: Vec<&str> = class.into_iter().collect();
    for one in called {
        let arguments = one.parameters.iter().filter_map(|parameter| match parameter {
            ParameterType::Object(class) => Some(class.as_str()),
            ParameterType::Value(_) | ParameterType::Other => None,
        });
        for class in one.class.as_deref().into_iter().chain(arguments) {
            if !used.contains(&class) {
                used.push(class);
            }
        }
    }
    used
}
