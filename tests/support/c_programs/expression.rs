//! Random expressions, and places to write to.
//!
//! **Input**: what is in scope. **Output**: an expression whose value does not depend on the order in which a compiler does what is
//! not sequenced: of such operands, at most one accesses what is shared.

use super::Generator;
use super::objects::{Part, Piece, plain};
use super::types::{Ex, Ty};

/// What a function may name beside the objects.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    pub(super) locals: Vec<(String, Ty)>,
    /// Local pointers to parts: name, type, whether what they point to is atomic.
    pub(super) pointers: Vec<(String, Ty, bool)>,
    /// Local pointers to `struct s`.
    pub(super) structs: Vec<String>,
    /// Local pointers to mutexes.
    pub(super) mutexes: Vec<String>,
    pub(super) locked: bool,
    pub(super) in_loop: bool,
    /// Whether a `break` would leave a `switch`.
    pub(super) in_switch: bool,
    /// How it may return early; none where it may not.
    pub(super) returns: Option<Returns>,
    /// So many functions of the program may be called.
    pub(super) callable: usize,
}

/// What a `return` gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Returns {
    Nothing,
    Null,
    Value(Ty),
}

/// An lvalue.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) text: String,
    pub(super) ty: Ty,
    pub(super) atomic: bool,
    /// Whether something shared is read to find it.
    pub(super) reads: bool,
}

impl Generator {
    /// A part of something shared. `may_read` says whether something shared may be read to find it.
    pub(super) fn place(&mut self, scope: &Scope, may_read: bool) -> Place {
        let (pointers, structs) = (self.objects.pointers.len(), self.objects.has_struct_pointer);
        let may_read = may_read && self.budget > 1;
        let weights = [
            6,
            if scope.pointers.is_empty() { 0 } else { 3 },
            if scope.structs.is_empty() { 0 } else { 4 },
            if may_read && pointers > 0 { 3 } else { 0 },
            if may_read && structs { 2 } else { 0 },
        ];
        match self.rng.weighted(&weights) {
            1 => {
                let (name, ty, atomic) = self.rng.pick(&scope.pointers).clone();
                let text = if self.rng.chance(80) { format!("*{name}") } else { format!("{name}[0]") };
                Place { text, ty, atomic, reads: false }
            }
            2 => {
                let name = self.rng.pick(&scope.structs).clone();
                let before = if self.rng.chance(80) { format!("{name}->") } else { format!("(*{name}).") };
                self.field(scope, &before, may_read)
            }
            3 => {
                self.spend(1);
                let index = self.rng.below(pointers);
                let pointer = &self.objects.pointers[index];
                let name = pointer.name.clone();
                let text = if name.starts_with("pt[") && self.rng.chance(50) {
                    let index = self.local(scope).binary("&", Ex::own("1".into(), Ty::Int, (1, 1)));
                    format!("*pt[{}]", index.text)
                } else {
                    format!("*{name}")
                };
                let pointer = &self.objects.pointers[index];
                Place { text, ty: pointer.ty, atomic: pointer.atomic, reads: true }
            }
            4 => {
                self.spend(1);
                Place { reads: true, ..self.field(scope, "ps->", false) }
            }
            0 if self.rng.chance(6) && !self.objects.pointers.is_empty() => {
                let index = self.rng.below(self.objects.pointers.len());
                let pointer = self.objects.pointers[index].clone();
                let test = self.local(scope).text;
                let (a, b) = (self.rng.pick(&pointer.targets), self.rng.pick(&pointer.targets));
                let text = format!("*({test} ? {a} : {b})");
                Place { text, ty: pointer.ty, atomic: pointer.atomic, reads: false }
            }
            _ => {
                let any = self.rng.below(self.objects.parts.len());
                let index = if self.rng.chance(80) { *self.rng.pick(&self.objects.hot) } else { any };
                let part = self.objects.parts[index].clone();
                self.part(scope, "", &part, may_read)
            }
        }
    }

    fn field(&mut self, scope: &Scope, before: &str, may_read: bool) -> Place {
        let index = self.rng.below(self.objects.fields.len());
        let part = self.objects.fields[index].clone();
        self.part(scope, before, &part, may_read)
    }

    fn part(&mut self, scope: &Scope, before: &str, part: &Part, may_read: bool) -> Place {
        let (mut text, mut reads, mut last) = (before.to_owned(), false, 0);
        for piece in &part.pieces {
            match piece {
                Piece::Text(name) => text.push_str(plain(name)),
                Piece::Index(length) => {
                    let index = self.index(scope, *length, may_read && !reads);
                    reads |= index.shared;
                    last = text.len();
                    text.push_str(&format!("[{}]", index.text));
                }
            }
        }
        let is_plain = part.pieces.len() == 1 && before.is_empty();
        if is_plain && self.rng.chance(4) {
            text = format!("*&{text}");
        } else if matches!(part.pieces.last(), Some(Piece::Index(_))) && self.rng.chance(15) {
            // The same in another form.
            let (array, index) = text.split_at(last);
            text = format!("*({array} + {})", &index[1..index.len() - 1]);
        } else if self.rng.chance(15) {
            text = self.by_bytes(before, part, &text[before.len()..]).unwrap_or(text);
        }
        Place { text, ty: part.ty, atomic: part.atomic, reads }
    }

    /// A member or an element by the bytes before it: how far it lies behind a pointer to its structure, or behind its array.
    fn by_bytes(&mut self, before: &str, part: &Part, text: &str) -> Option<String> {
        let (member, index) = match text.strip_suffix(']').and_then(|text| text.split_once('[')) {
            Some((member, index)) => (member, Some(index)),
            None => (text, None),
        };
        if index.is_some_and(|index| index.contains("][") || index.contains("].")) {
            return None;
        }
        let (start, offset) = match before.strip_suffix("->") {
            Some(pointer) => (pointer, format!("offsetof(struct s, {member})")),
            None if before.is_empty() && !member.contains([']', '.']) && index.is_some() => (member, "0".to_owned()),
            None => return None,
        };
        let word = format!("{}{}", if part.atomic { "_Atomic " } else { "" }, part.ty.word());
        let skipped = index.map_or(String::new(), |index| format!(" + ({index}) * sizeof({word})"));
        let counted = self.rng.pick(&["char *", "void *", "unsigned long"]);
        Some(format!("*({word} *)(({counted}){start} + {offset}{skipped})"))
    }

    /// A number below that.
    pub(super) fn index(&mut self, scope: &Scope, length: usize, may_read: bool) -> Ex {
        let constant = self.rng.below(length);
        if self.rng.chance(50) {
            return Ex::own(constant.to_string(), Ty::Int, (0, constant as i128));
        }
        let of = self.simple(scope, may_read);
        let length = length as i128;
        if length == 2 && self.rng.chance(60) {
            return of.binary("&", Ex::own("1".into(), Ty::Int, (1, 1)));
        }
        let length = Ex::own(format!("{length}u"), Ty::UInt, (length, length));
        if of.ty.is_signed() { of.cast(Ty::UInt).binary("%", length) } else { of.binary("%", length) }
    }

    fn constant(&mut self) -> Ex {
        if self.rng.chance(60) {
            let value = self.rng.range(0, 4);
            return Ex::own(value.to_string(), Ty::Int, (value.into(), value.into()));
        }
        let (text, ty, value) = *self.rng.pick(&[
            ("0", Ty::Int, 0),
            ("1", Ty::Int, 1),
            ("2", Ty::Int, 2),
            ("3", Ty::Int, 3),
            ("GREEN", Ty::Int, 5),
            ("sizeof(short)", Ty::ULong, 2),
            ("(-1)", Ty::Int, -1),
            ("200", Ty::Int, 200),
            ("70000", Ty::Int, 70_000),
            ("'a'", Ty::Int, 97),
            ("0x7f", Ty::Int, 127),
            ("1u", Ty::UInt, 1),
            ("3000000000u", Ty::UInt, 3_000_000_000),
            ("0xffffffff", Ty::UInt, 0xffff_ffff),
            ("2l", Ty::Long, 2),
            ("5000000000", Ty::Long, 5_000_000_000),
            ("3ul", Ty::ULong, 3),
            ("0xffffffffffffffff", Ty::ULong, 0xffff_ffff_ffff_ffff),
        ]);
        Ex::own(text.into(), ty, (value, value))
    }

    fn local(&mut self, scope: &Scope) -> Ex {
        if scope.locals.is_empty() {
            return self.constant();
        }
        let (name, ty) = self.rng.pick(&scope.locals).clone();
        Ex::own(name, ty, ty.held())
    }

    /// A constant, a local, or where it may be something shared that is read.
    pub(super) fn simple(&mut self, scope: &Scope, shared: bool) -> Ex {
        let shared = shared && self.budget > 0;
        match self.rng.below(if shared { 9 } else { 4 }) {
            0 => self.constant(),
            1..=3 => self.local(scope),
            4 if self.rng.chance(40) => self.compared(scope),
            _ => {
                self.spend(1);
                let place = self.place(scope, true);
                Ex { text: place.text, ty: place.ty, range: place.ty.held(), shared: true, stores: false }
            }
        }
    }

    /// A pointer compared with an address.
    fn compared(&mut self, scope: &Scope) -> Ex {
        let own = |text: String, shared| Ex { shared, ..Ex::own(text, Ty::Int, (0, 1)) };
        let (pointers, equal) = (self.objects.pointers.len(), ["==", "!="][self.rng.below(2)]);
        if self.objects.has_struct_pointer && self.rng.chance(40) {
            self.spend(1);
            let other =
                if scope.structs.is_empty() || self.rng.chance(50) { &self.objects.structs } else { &scope.structs };
            return own(format!("(ps {equal} {})", self.rng.pick(other)), true);
        }
        if pointers == 0 {
            return self.local(scope);
        }
        self.spend(1);
        let index = self.rng.below(pointers);
        let pointer = &self.objects.pointers[index];
        let target = self.rng.pick(&pointer.targets).clone();
        let name = pointer.name.clone();
        own(
            match self.rng.below(5) {
                0 => format!("(!{name})"),
                1 => format!("((void *){name} {equal} (void *){target})"),
                2 => format!("({name} {equal} NULL)"),
                _ => format!("({name} {equal} {target})"),
            },
            true,
        )
    }

    /// An expression; `shared` says whether it may access what is shared.
    pub(super) fn expression(&mut self, scope: &Scope, depth: u32, shared: bool) -> Ex {
        if depth == 0 {
            return self.simple(scope, shared);
        }
        match self.rng.below(30) {
            0..=6 => self.simple(scope, shared),
            7..=15 => self.operation(scope, depth, shared),
            16 => self.expression(scope, depth - 1, shared).negated(),
            17 => self.expression(scope, depth - 1, shared).complement(),
            18 => self.expression(scope, depth - 1, shared).not(),
            19 | 20 => {
                let ty = *self.rng.pick(&Ty::ALL);
                self.expression(scope, depth - 1, shared).cast(ty)
            }
            21 | 22 => {
                let left = self.expression(scope, depth - 1, shared);
                let operator = ["&&", "||"][self.rng.below(2)];
                let right = self.expression(scope, depth - 1, shared);
                left.logical(operator, &right)
            }
            23 | 24 => {
                let test = self.expression(scope, depth - 1, shared);
                let yes = self.expression(scope, depth - 1, shared);
                let no = self.expression(scope, 0, shared);
                test.conditional(&yes, &no)
            }
            25 => {
                let left = self.expression(scope, depth - 1, shared);
                let right = self.expression(scope, depth - 1, shared);
                left.comma(&right)
            }
            26 if shared && self.budget > 1 => self.counted(scope),
            27 if shared && self.budget > 0 => {
                let value = self.expression(scope, 1, true);
                let inner = self.rng.below(1000);
                let ty = *self.rng.pick(&Ty::ALL);
                let more = Ex::own(format!("u{inner}"), ty, ty.held()).binary("+", self.constant());
                let text = format!("({{ {} u{inner} = {}; {}; }})", ty.word(), value.fit(ty).text, more.text);
                Ex { text, ty: more.ty, range: more.range, shared: true, stores: true }
            }
            28 if shared && self.budget > 1 => {
                let place = self.place(scope, false);
                self.spend(1);
                let value = self.expression(scope, 1, !place.reads).fit(place.ty);
                let text = format!("({} = {})", place.text, value.text);
                Ex { text, ty: place.ty, range: place.ty.held(), shared: true, stores: true }
            }
            _ => self.call(scope, shared).unwrap_or_else(|| self.operation_of_own(scope)),
        }
    }

    fn operation_of_own(&mut self, scope: &Scope) -> Ex {
        self.operation(scope, 1, false)
    }

    /// `++` or `--` of something shared.
    pub(super) fn counted(&mut self, scope: &Scope) -> Ex {
        let place = self.place(scope, true);
        self.spend(2);
        // Compilers disagree about what has no meaning of its own for a truth value.
        let atomic_bool = place.atomic && place.ty == Ty::Bool;
        let text = match self.rng.below(4) {
            _ if atomic_bool => format!("({} ^= 1)", place.text),
            0 => format!("(++{})", place.text),
            1 => format!("(--{})", place.text),
            2 => format!("(({})++)", place.text),
            _ => format!("(({})--)", place.text),
        };
        Ex { text, ty: place.ty, range: place.ty.held(), shared: true, stores: true }
    }

    fn operation(&mut self, scope: &Scope, depth: u32, shared: bool) -> Ex {
        let (a, b) = if self.rng.chance(50) {
            let a = self.expression(scope, depth - 1, shared);
            let b = self.expression(scope, depth - 1, shared && !a.shared);
            (a, b)
        } else {
            let b = self.expression(scope, depth - 1, shared);
            (self.expression(scope, depth - 1, shared && !b.shared), b)
        };
        let number = |value: i128| Ex::own(value.to_string(), Ty::Int, (value, value));
        let operator = *self.rng.pick(&[
            "+", "-", "*", "+", "-", "/", "%", "&", "|", "^", "<<", ">>", "<", ">", "<=", ">=", "==", "!=", "==",
        ]);
        match operator {
            "/" | "%" => {
                let divisor = if self.rng.chance(50) {
                    number(self.rng.range(1, 7).into())
                } else {
                    b.binary("&", number(3)).binary("+", number(1))
                };
                a.binary(operator, divisor)
            }
            "<<" | ">>" => {
                let count =
                    if self.rng.chance(50) { number(self.rng.range(0, 7).into()) } else { b.binary("&", number(3)) };
                a.shifted(operator == "<<", &count)
            }
            _ => a.binary(operator, b),
        }
    }

    /// A call of a function that has a result.
    fn call(&mut self, scope: &Scope, shared: bool) -> Option<Ex> {
        let called: Vec<usize> = (0..scope.callable)
            .filter(|&index| {
                let function = &self.functions[index];
                function.result.is_some()
                    && shared
                    && function.cost <= self.budget
                    && !(function.locks && scope.locked && !self.may_block)
            })
            .collect();
        if called.is_empty() {
            return None;
        }
        let index = *self.rng.pick(&called);
        let ty = self.functions[index].result?;
        let text = self.call_text(scope, index, false);
        Some(Ex { text, ty, range: ty.held(), shared: true, stores: true })
    }
}
