//! Determines which objects two methods use when they run in parallel.
//!
//! **Input**: the methods and functions of a file that `main` can call. **Output**: [`Arrangement`]s, the plainest first.
//!
//! **Algorithm**: there are two objects of each class. A method has the first object of its class as receiver. An object argument
//! of its own class is the other object; an object argument of another class is the first one. For each unordered pair of
//! methods, including a method with itself:
//! 1. both use the same objects;
//! 2. the second uses the other objects of some classes instead, as long as the two still have a common object: `first.m(second)`
//!    beside `second.n(first)`, or two receivers with one argument.
//! 3. Last come pairs without a common object, if the file has variables of its own.

use super::methods::Callable;
use cssame_front::csm::syntax::ast::TypeKind;

/// Classes of one method whose objects are exchanged.
const MAX_EXCHANGED: usize = 3;

/// One of the two objects of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Object<'a> {
    pub class: &'a str,
    pub second: bool,
}

impl Object<'_> {
    pub fn role(self) -> &'static str {
        if self.second { "second" } else { "first" }
    }
}

/// A pair of methods, and the classes whose two objects are exchanged for the second of them.
#[derive(Clone, Debug)]
pub(super) struct Arrangement<'a> {
    pub pair: [Callable<'a>; 2],
    pub exchanged: Vec<&'a str>,
}

impl<'a> Arrangement<'a> {
    /// The objects of each call: the receiver of a method, then the arguments that are objects.
    pub fn objects(&self) -> [Vec<Object<'a>>; 2] {
        [objects(self.pair[0], &[]), objects(self.pair[1], &self.exchanged)]
    }

    fn has_common_object(&self) -> bool {
        let [first, second] = self.objects();
        first.iter().any(|object| second.contains(object))
    }

    /// Both are functions that take no objects: what they have in common can only be variables of the file.
    fn is_without_objects(&self) -> bool {
        self.objects().iter().all(Vec::is_empty)
    }
}

/// The objects of a call, by class: the first, then the second, and so on in turn, or the other way round where the
/// objects of the class are exchanged.
pub(super) fn objects<'a>(one: Callable<'a>, exchanged: &[&str]) -> Vec<Object<'a>> {
    let arguments = one.function.parameters.iter().filter_map(|parameter| match &parameter.ty.kind {
        TypeKind::Class(name) => Some(name.as_str()),
        _ => None,
    });
    let mut objects: Vec<Object<'a>> = Vec::new();
    for class in one.class_name().into_iter().chain(arguments) {
        let before = objects.iter().filter(|object| object.class == class).count();
        objects.push(Object { class, second: (before % 2 == 1) != exchanged.contains(&class) });
    }
    objects
}

/// All arrangements of pairs, one by one; `globals` says whether the file has variables of its own.
pub(super) fn arrangements<'a>(callables: &[Callable<'a>], globals: bool) -> impl Iterator<Item = Arrangement<'a>> {
    let pairs = || {
        let from = |(index, &first)| callables[index..].iter().map(move |&second| [first, second]);
        callables.iter().enumerate().flat_map(from)
    };
    let is_plain = move |one: &Arrangement<'a>| one.has_common_object() || globals && one.is_without_objects();
    let same = move || pairs().map(|pair| Arrangement { pair, exchanged: Vec::new() });
    let exchanged = pairs().flat_map(|pair| {
        let all = exchanges(pair[1]).into_iter().map(move |exchanged| Arrangement { pair, exchanged });
        all.filter(Arrangement::has_common_object)
    });
    let apart = same().filter(move |one| globals && !is_plain(one));
    same().filter(is_plain).chain(exchanged).chain(apart)
}

/// The sets of classes, none empty, whose objects may be exchanged in the calls of a method.
pub(super) fn exchanges(one: Callable<'_>) -> Vec<Vec<&str>> {
    let mut classes: Vec<&str> = Vec::new();
    for object in objects(one, &[]) {
        if !classes.contains(&object.class) && classes.len() < MAX_EXCHANGED {
            classes.push(object.class);
        }
    }
    let chosen = |set: usize| classes.iter().enumerate().filter(move |&(at, _)| set >> at & 1 == 1);
    (1..1usize << classes.len()).map(|set| chosen(set).map(|(_, &class)| class).collect()).collect()
}
