//! What the threads of a program share: objects and their parts, pointers to them, and locks.
//!
//! **Input**: a generator of random numbers. **Output**: declarations, and for each part how it is written.

use super::super::generate::Rng;
use super::types::Ty;
use std::fmt::Write;

/// A piece of an lvalue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    Text(String),
    /// An index below that.
    Index(usize),
}

/// A part of an object that holds a number.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub(super) pieces: Vec<Piece>,
    pub(super) ty: Ty,
    pub(super) atomic: bool,
}

/// A global pointer to parts of one type.
#[derive(Clone, Debug)]
pub(super) struct Pointer {
    pub(super) name: String,
    pub(super) ty: Ty,
    pub(super) atomic: bool,
    /// Addresses that it may be given.
    pub(super) targets: Vec<String>,
}

/// An array of numbers.
#[derive(Clone, Debug)]
pub(super) struct Array {
    pub(super) name: String,
    pub(super) ty: Ty,
    pub(super) length: usize,
}

/// All of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Objects {
    pub(super) declarations: String,
    pub(super) parts: Vec<Part>,
    /// Those that most accesses are to.
    pub(super) hot: Vec<usize>,
    /// Parts of `struct s`, from its name on: `.n`, `.v[i]`.
    pub(super) fields: Vec<Part>,
    pub(super) pointers: Vec<Pointer>,
    pub(super) arrays: Vec<Array>,
    /// The type of what the member `to` of `struct s` points to, if it has one.
    pub(super) link: Option<(Ty, bool)>,
    /// Assignments with which `main` begins.
    pub(super) begin: Vec<String>,
    /// Addresses of objects of type `struct s`.
    pub(super) structs: Vec<String>,
    /// Whether there is a global `ps` that points to one.
    pub(super) has_struct_pointer: bool,
    /// Addresses of mutexes, in the order in which they may be taken.
    pub(super) mutexes: Vec<String>,
    /// Whether there is a global `pm` that points to one.
    pub(super) has_mutex_pointer: bool,
    pub(super) has_rwlock: bool,
    /// Whether there is a mutex `rm` that its holder may lock again.
    pub(super) has_recursive: bool,
    pub(super) has_spin: bool,
    pub(super) has_flag: bool,
    /// The type of a variable `tl` that each thread has for itself.
    pub(super) thread_local: Option<Ty>,
    pub(super) has_semaphore: bool,
    /// Whether objects are made on the heap.
    pub(super) has_heap: bool,
}

/// Initial values that every type may have.
const VALUES: [&str; 9] = ["0", "1", "2", "3", "BLUE", "-1", "(1 << 3) - 5", "'b'", "sizeof(int)"];

/// Those that not every type keeps as they are.
const LARGE: [&str; 4] = ["200", "-70000", "3000000000u", "~0ul"];

impl Objects {
    pub(super) fn new(rng: &mut Rng) -> Objects {
        let mut it = Objects { declarations: "enum { RED, GREEN = 5, BLUE };\n".to_owned(), ..Objects::default() };
        // Most have one type, so that pointers have several targets.
        let most = *rng.pick(&Ty::ALL);
        for number in 0..2 + rng.below(3) {
            it.scalar(rng, most, number);
        }
        if rng.chance(55) {
            let (ty, length) = (ty(rng, most), 2 + rng.below(2));
            let values: Vec<&str> = (0..rng.below(length + 1)).map(|_| *rng.pick(&VALUES)).collect();
            let initial = if values.is_empty() { String::new() } else { format!(" = {{{}}}", values.join(", ")) };
            let prefix = if rng.chance(40) { "static " } else { "" };
            let _ = writeln!(it.declarations, "{prefix}{} t[{length}]{initial};", ty.word());
            it.parts.push(Part { pieces: vec![Piece::Text("t".into()), Piece::Index(length)], ty, atomic: false });
            it.arrays.push(Array { name: "t".into(), ty, length });
        }
        if rng.chance(15) {
            let ty = ty(rng, most);
            let _ = writeln!(it.declarations, "{} tt[2][2] = {{{{1, 2}}, {{3}}}};", ty.word());
            let pieces = vec![Piece::Text("tt".into()), Piece::Index(2), Piece::Index(2)];
            it.parts.push(Part { pieces, ty, atomic: false });
            it.arrays.push(Array { name: "tt[1]".into(), ty, length: 2 });
        }
        if rng.chance(20) {
            let ty = ty(rng, most);
            let _ = writeln!(it.declarations, "_Atomic {} at[2];", ty.word());
            it.parts.push(Part { pieces: vec![Piece::Text("at".into()), Piece::Index(2)], ty, atomic: true });
        }
        let has_structs = rng.chance(60);
        it.locks(rng);
        if rng.chance(40) {
            let of = rng.pick(&it.parts);
            it.link = (!addresses(of).is_empty()).then_some((of.ty, of.atomic));
        }
        if has_structs {
            it.structures(rng, most);
        }
        it.all_pointers(rng, has_structs);
        it.has_heap = rng.chance(40);
        it.hot = (0..1 + rng.below(3)).map(|_| rng.below(it.parts.len())).collect();
        it
    }

    fn scalar(&mut self, rng: &mut Rng, most: Ty, number: usize) {
        let (ty, atomic, name) = (ty(rng, most), rng.chance(25), format!("x{number}"));
        let prefix = ["", "", "static ", "volatile "][rng.below(4)];
        let qualifier = if atomic { "_Atomic " } else { "" };
        let value = if ty.is_wide_signed() || rng.chance(70) { *rng.pick(&VALUES) } else { *rng.pick(&LARGE) };
        let initial = if rng.chance(50) { format!(" = {value}") } else { String::new() };
        let _ = match (atomic, rng.below(3)) {
            (true, 0) => writeln!(self.declarations, "{prefix}_Atomic({}) {name}{initial};", ty.word()),
            _ => writeln!(self.declarations, "{prefix}{qualifier}{} {name}{initial};", ty.word()),
        };
        // A pointer to what is volatile would have to be one, too.
        let name = if prefix == "volatile " { Piece::Text(format!("{name}/*volatile*/")) } else { Piece::Text(name) };
        self.parts.push(Part { pieces: vec![name], ty, atomic });
    }

    fn locks(&mut self, rng: &mut Rng) {
        let initial = ["", " = PTHREAD_MUTEX_INITIALIZER"][rng.below(2)];
        let _ = writeln!(self.declarations, "pthread_mutex_t m{initial};");
        self.mutexes.push("&m".into());
        if rng.chance(35) {
            let initial = ["", " = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER}"][rng.below(2)];
            let _ = writeln!(self.declarations, "static pthread_mutex_t mm[2]{initial};");
            self.mutexes.extend(["&mm[0]".into(), "&mm[1]".into()]);
        }
        if rng.chance(25) {
            self.has_rwlock = true;
            let _ = writeln!(self.declarations, "pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;");
        }
        if rng.chance(20) {
            self.has_recursive = true;
            if rng.chance(50) {
                self.declarations.push_str("pthread_mutex_t rm = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;\n");
            } else {
                self.declarations.push_str("static pthread_mutex_t rm;\n");
                self.begin.push("pthread_mutexattr_t kind;".into());
                self.begin.push("pthread_mutexattr_init(&kind);".into());
                self.begin.push("pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);".into());
                self.begin.push("pthread_mutex_init(&rm, &kind);".into());
            }
        }
        if rng.chance(12) {
            self.has_spin = true;
            self.declarations.push_str("pthread_spinlock_t spin;\n");
            self.begin.push("pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);".into());
        }
        if rng.chance(15) {
            self.has_flag = true;
            self.declarations.push_str("atomic_flag flag = ATOMIC_FLAG_INIT;\n");
        }
        if rng.chance(15) {
            let ty = *rng.pick(&Ty::ALL);
            self.thread_local = Some(ty);
            let _ = writeln!(self.declarations, "static __thread {} tl = 1;", ty.word());
        }
        if rng.chance(25) {
            self.has_semaphore = true;
            let _ = writeln!(self.declarations, "sem_t sem;");
        }
    }

    fn structures(&mut self, rng: &mut Rng, most: Ty) {
        let types = [ty(rng, most), ty(rng, most), ty(rng, most), ty(rng, most)];
        let atomic = if rng.chance(30) { "_Atomic " } else { "" };
        let link = self.link.map_or(String::new(), |(ty, atomic)| {
            format!("{}{} *to; ", if atomic { "_Atomic " } else { "" }, ty.word())
        });
        let _ = writeln!(
            self.declarations,
            "struct in {{ {} a; {} b; }};\nstruct s {{ {atomic}{} n; struct in in; {} v[2]; pthread_mutex_t m; {link}}};",
            types[0].word(),
            types[1].word(),
            types[2].word(),
            types[3].word()
        );
        let text = |text: &str| Piece::Text(text.to_owned());
        self.fields = vec![
            Part { pieces: vec![text("n")], ty: types[2], atomic: !atomic.is_empty() },
            Part { pieces: vec![text("in.a")], ty: types[0], atomic: false },
            Part { pieces: vec![text("in.b")], ty: types[1], atomic: false },
            Part { pieces: vec![text("v"), Piece::Index(2)], ty: types[3], atomic: false },
        ];
        let mut instances = Vec::new();
        if rng.chance(70) {
            let initial = [
                "",
                " = {1, {2, 3}, {1}, PTHREAD_MUTEX_INITIALIZER}",
                " = {.in.b = 1, .v = {0, 2}}",
                " = {.n = 4, .m = PTHREAD_MUTEX_INITIALIZER}",
            ][rng.below(4)];
            let _ = writeln!(self.declarations, "struct s s0{initial};");
            instances.push(vec![text("s0.")]);
            self.structs.push("&s0".into());
        }
        if instances.is_empty() || rng.chance(40) {
            let initial = ["", " = {{1}, {.in = {5, 6}}}", " = {[1] = {.v[1] = 3}}"][rng.below(3)];
            let _ = writeln!(self.declarations, "static struct s ss[2]{initial};");
            instances.push(vec![text("ss"), Piece::Index(2), text(".")]);
            self.structs.extend(["&ss[0]".into(), "ss + 1".into()]);
        }
        for instance in instances {
            for field in self.fields.clone() {
                let pieces = [instance.clone(), field.pieces].concat();
                self.parts.push(Part { pieces, ..field });
            }
        }
        for name in &self.structs {
            self.arrays.push(Array { name: format!("({name})->v"), ty: types[3], length: 2 });
        }
        if let Some((ty, atomic)) = self.link {
            for name in self.structs.clone() {
                let targets = self.targets(ty, atomic);
                let name = format!("({name})->to");
                self.begin.push(format!("{name} = {};", rng.pick(&targets)));
                self.pointers.push(Pointer { name, ty, atomic, targets });
            }
        }
        let of = |address: &String| format!("&({address})->m");
        self.mutexes.extend(self.structs.iter().map(of));
    }

    fn all_pointers(&mut self, rng: &mut Rng, has_structs: bool) {
        for number in 0..rng.below(3) {
            let of = rng.pick(&self.parts).clone();
            let targets = self.targets(of.ty, of.atomic);
            if targets.is_empty() {
                continue;
            }
            let (name, qualifier) = (format!("p{number}"), if of.atomic { "_Atomic " } else { "" });
            let first = if rng.chance(80) { rng.pick(&targets).clone() } else { targets[0].clone() };
            let _ = writeln!(self.declarations, "{qualifier}{} *{name} = {first};", of.ty.word());
            self.pointers.push(Pointer { name, ty: of.ty, atomic: of.atomic, targets });
        }
        let of = rng.pick(&self.parts).clone();
        let targets = self.targets(of.ty, of.atomic);
        if rng.chance(25) && !targets.is_empty() {
            let qualifier = if of.atomic { "_Atomic " } else { "" };
            let (a, b) = (rng.pick(&targets), rng.pick(&targets));
            let _ = writeln!(self.declarations, "static {qualifier}{} *pt[2] = {{{a}, {b}}};", of.ty.word());
            for name in ["pt[0]", "pt[1]"] {
                let targets = targets.clone();
                self.pointers.push(Pointer { name: name.into(), ty: of.ty, atomic: of.atomic, targets });
            }
        }
        let of = rng.pick(&self.parts).clone();
        let targets = self.targets(of.ty, of.atomic);
        if rng.chance(20) && !targets.is_empty() {
            let qualifier = if of.atomic { "_Atomic " } else { "" };
            let first = rng.pick(&targets);
            let _ = writeln!(self.declarations, "_Atomic({qualifier}{} *) ap = {first};", of.ty.word());
            self.pointers.push(Pointer { name: "ap".into(), ty: of.ty, atomic: of.atomic, targets });
        }
        if has_structs && rng.chance(50) {
            self.has_struct_pointer = true;
            let _ = writeln!(self.declarations, "struct s *ps = {};", rng.pick(&self.structs));
        }
        if rng.chance(20) {
            self.has_mutex_pointer = true;
            let _ = writeln!(self.declarations, "pthread_mutex_t *pm = {};", rng.pick(&self.mutexes));
        }
    }

    /// Addresses of parts of that type.
    pub(super) fn targets(&self, ty: Ty, atomic: bool) -> Vec<String> {
        let alike = self.parts.iter().filter(|part| (part.ty, part.atomic) == (ty, atomic));
        alike.flat_map(addresses).collect()
    }

    /// What the program prints of them: expressions, each with its type.
    pub(super) fn printed(&self) -> Vec<(String, Ty)> {
        let elements = |part: &Part| written(part).into_iter().map(|text| (text, part.ty)).collect::<Vec<_>>();
        let mut all: Vec<(String, Ty)> = self.parts.iter().flat_map(elements).collect();
        for pointer in &self.pointers {
            all.push((format!("{} == {}", pointer.name, pointer.targets[0]), Ty::Int));
            all.push((format!("*{}", pointer.name), pointer.ty));
        }
        if self.has_struct_pointer {
            all.push((format!("ps != {}", self.structs[0]), Ty::Int));
        }
        all
    }
}

fn ty(rng: &mut Rng, most: Ty) -> Ty {
    if rng.chance(60) { most } else { *rng.pick(&Ty::ALL) }
}

/// A part with each of its indices.
pub(super) fn written(part: &Part) -> Vec<String> {
    let mut all = vec![String::new()];
    for piece in &part.pieces {
        all = match piece {
            Piece::Text(text) => all.into_iter().map(|before| format!("{before}{}", plain(text))).collect(),
            Piece::Index(length) => {
                let each = |before: String| (0..*length).map(move |index| format!("{before}[{index}]"));
                all.into_iter().flat_map(each).collect()
            }
        };
    }
    all
}

/// A name without what is noted behind it.
pub(super) fn plain(text: &str) -> &str {
    text.trim_end_matches("/*volatile*/")
}

/// The addresses that a pointer to such a part may have.
pub(super) fn addresses(part: &Part) -> Vec<String> {
    if part.pieces.iter().any(|piece| matches!(piece, Piece::Text(text) if text.contains("volatile"))) {
        return Vec::new();
    }
    written(part).into_iter().map(|text| format!("&{text}")).collect()
}
