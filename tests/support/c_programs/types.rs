//! Integer types of C, and expressions with the values that they may have.
//!
//! **Input**: operands, each with its type and the range of its values. **Output**: an operation that is defined for all of
//! them: where a signed one could overflow, an operand is made unsigned first.

/// An integer type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ty {
    Bool,
    Char,
    SChar,
    UChar,
    Short,
    UShort,
    Int,
    UInt,
    Long,
    ULong,
}

/// Lowest and highest value.
pub(super) type Range = (i128, i128);

/// What is stored in a signed variable stays so small that counting in loops never leaves its type.
const STORED: Range = (-(1 << 20), 1 << 20);
const HELD: Range = (-(1 << 21), 1 << 21);

impl Ty {
    pub(super) const ALL: [Ty; 10] =
        [Ty::Bool, Ty::Char, Ty::SChar, Ty::UChar, Ty::Short, Ty::UShort, Ty::Int, Ty::UInt, Ty::Long, Ty::ULong];

    pub(super) fn word(self) -> &'static str {
        match self {
            Ty::Bool => "_Bool",
            Ty::Char => "char",
            Ty::SChar => "signed char",
            Ty::UChar => "unsigned char",
            Ty::Short => "short",
            Ty::UShort => "unsigned short",
            Ty::Int => "int",
            Ty::UInt => "unsigned",
            Ty::Long => "long",
            Ty::ULong => "unsigned long",
        }
    }

    pub(super) fn range(self) -> Range {
        let (bits, signed) = match self {
            Ty::Bool => (1, false),
            Ty::Char | Ty::SChar => (8, true),
            Ty::UChar => (8, false),
            Ty::Short => (16, true),
            Ty::UShort => (16, false),
            Ty::Int => (32, true),
            Ty::UInt => (32, false),
            Ty::Long => (64, true),
            Ty::ULong => (64, false),
        };
        if signed { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) }
    }

    /// The values that a variable of this type may hold.
    pub(super) fn held(self) -> Range {
        if self.is_wide_signed() { HELD } else { self.range() }
    }

    pub(super) fn is_wide_signed(self) -> bool {
        matches!(self, Ty::Int | Ty::Long)
    }

    pub(super) fn is_signed(self) -> bool {
        self.range().0 < 0
    }

    pub(super) fn promoted(self) -> Ty {
        match self {
            Ty::Int | Ty::UInt | Ty::Long | Ty::ULong => self,
            _ => Ty::Int,
        }
    }

    /// The type of an operation on two of them.
    pub(super) fn common(self, other: Ty) -> Ty {
        let rank = |ty: Ty| match ty {
            Ty::ULong => 3,
            Ty::Long => 2,
            Ty::UInt => 1,
            _ => 0,
        };
        let (a, b) = (self.promoted(), other.promoted());
        if rank(a) >= rank(b) { a } else { b }
    }

    fn unsigned(self) -> Ty {
        if self == Ty::Long { Ty::ULong } else { Ty::UInt }
    }

    /// How `printf` is told of it.
    pub(super) fn format(self) -> &'static str {
        match self.promoted() {
            Ty::UInt => "%u",
            Ty::Long => "%ld",
            Ty::ULong => "%lu",
            _ => "%d",
        }
    }
}

fn fits(range: Range, in_range: Range) -> bool {
    range.0 >= in_range.0 && range.1 <= in_range.1
}

fn converted(range: Range, ty: Ty) -> Range {
    if ty == Ty::Bool {
        return (0, 1);
    }
    if fits(range, ty.range()) { range } else { ty.range() }
}

/// An expression.
#[derive(Clone, Debug)]
pub(super) struct Ex {
    pub(super) text: String,
    pub(super) ty: Ty,
    pub(super) range: Range,
    /// Whether it accesses memory that others may access: of what is not sequenced, only one may.
    pub(super) shared: bool,
    /// Whether it may write such memory.
    pub(super) stores: bool,
}

impl Ex {
    /// One that accesses nothing that is shared.
    pub(super) fn own(text: String, ty: Ty, range: Range) -> Ex {
        Ex { text, ty, range, shared: false, stores: false }
    }

    fn with(self, text: String, ty: Ty, range: Range) -> Ex {
        Ex { text, ty, range, ..self }
    }

    pub(super) fn cast(self, ty: Ty) -> Ex {
        let (text, range) = (format!("({})({})", ty.word(), self.text), converted(self.range, ty));
        self.with(text, ty, range)
    }

    /// A value that a variable of this type may take.
    pub(super) fn fit(self, ty: Ty) -> Ex {
        if ty.is_wide_signed() && !fits(converted(self.range, ty), STORED) { self.cast(Ty::Short) } else { self }
    }

    /// A value so small that it can be added some times.
    pub(super) fn small(self) -> Ex {
        if fits(self.range, (-1000, 1000)) { self } else { self.cast(Ty::SChar) }
    }

    pub(super) fn negated(self) -> Ex {
        let it = if self.ty.promoted().is_signed() && self.range.0 <= self.ty.promoted().range().0 {
            let unsigned = self.ty.promoted().unsigned();
            self.cast(unsigned)
        } else {
            self
        };
        let ty = it.ty.promoted();
        let (text, range) = (format!("(-{})", it.text), converted((-it.range.1, -it.range.0), ty));
        it.with(text, ty, range)
    }

    pub(super) fn complement(self) -> Ex {
        let ty = self.ty.promoted();
        let (text, range) = (format!("(~{})", self.text), converted((-self.range.1 - 1, -self.range.0 - 1), ty));
        self.with(text, ty, range)
    }

    pub(super) fn not(self) -> Ex {
        let text = format!("(!{})", self.text);
        self.with(text, Ty::Int, (0, 1))
    }

    /// Shifted by a small count.
    pub(super) fn shifted(self, left: bool, count: &Ex) -> Ex {
        let ty = self.ty.promoted();
        let highest = self.range.1.max(0) << count.range.1;
        let it = if left && ty.is_signed() && !(self.range.0 >= 0 && fits((0, highest), ty.range())) {
            self.cast(ty.unsigned())
        } else {
            self
        };
        let ty = it.ty.promoted();
        let range = if left {
            converted((it.range.0.min(0), it.range.1.max(0) << count.range.1), ty)
        } else {
            (it.range.0.min(0), it.range.1.max(0))
        };
        let text = format!("({} {} {})", it.text, if left { "<<" } else { ">>" }, count.text);
        let (shared, stores) = (it.shared || count.shared, it.stores || count.stores);
        Ex { text, ty, range, shared, stores }
    }

    /// Two operands of which at most one is shared.
    pub(super) fn binary(self, operator: &str, other: Ex) -> Ex {
        let ty = self.ty.common(other.ty);
        let (a, b) = (converted(self.range, ty), converted(other.range, ty));
        let corners = |f: &dyn Fn(i128, i128) -> Option<i128>| -> Range {
            let all = [f(a.0, b.0), f(a.0, b.1), f(a.1, b.0), f(a.1, b.1)];
            let all = all.map(|each| each.unwrap_or(i128::MAX));
            (*all.iter().min().unwrap_or(&0), *all.iter().max().unwrap_or(&0))
        };
        let range = match operator {
            "+" => corners(&|x, y| Some(x + y)),
            "-" => corners(&|x, y| Some(x - y)),
            "*" => corners(&i128::checked_mul),
            "/" | "%" => {
                let most = a.0.abs().max(a.1.abs());
                (if a.0 < 0 { -most } else { 0 }, most)
            }
            "&" | "|" | "^" if a.0 >= 0 && b.0 >= 0 => {
                let bits = 128 - a.1.max(b.1).leading_zeros();
                (0, if operator == "&" { a.1.min(b.1) } else { (1 << bits) - 1 })
            }
            "&" if a.0 >= 0 => (0, a.1),
            "&" if b.0 >= 0 => (0, b.1),
            "&" | "|" | "^" => ty.range(),
            _ => (0, 1),
        };
        let is_comparison = matches!(operator, "<" | ">" | "<=" | ">=" | "==" | "!=");
        if !is_comparison && ty.is_signed() && !fits(range, ty.range()) {
            return self.cast(ty.unsigned()).binary(operator, other);
        }
        let (ty, range) = if is_comparison { (Ty::Int, (0, 1)) } else { (ty, converted(range, ty)) };
        let text = format!("({} {operator} {})", self.text, other.text);
        Ex { text, ty, range, shared: self.shared || other.shared, stores: self.stores || other.stores }
    }

    /// The right operand of an operator behind which everything of the left one has happened.
    fn behind(&self, left: &Ex) -> String {
        // The processor may do a write after reads behind it: what is compiled has a fence there.
        if left.stores && self.shared { format!("(Y(), {})", self.text) } else { self.text.clone() }
    }

    pub(super) fn logical(self, operator: &str, other: &Ex) -> Ex {
        let text = format!("({} {operator} {})", self.text, other.behind(&self));
        let (shared, stores) = (self.shared || other.shared, self.stores || other.stores);
        Ex { text, ty: Ty::Int, range: (0, 1), shared, stores }
    }

    pub(super) fn comma(self, other: &Ex) -> Ex {
        let text = format!("({}, {})", self.text, other.behind(&self));
        let (shared, stores) = (self.shared || other.shared, self.stores || other.stores);
        Ex { text, ty: other.ty, range: other.range, shared, stores }
    }

    pub(super) fn conditional(self, yes: &Ex, no: &Ex) -> Ex {
        let ty = yes.ty.common(no.ty);
        let (a, b) = (converted(yes.range, ty), converted(no.range, ty));
        let text = format!("({} ? {} : {})", self.text, yes.behind(&self), no.behind(&self));
        let (shared, stores) = (self.shared || yes.shared || no.shared, self.stores || yes.stores || no.stores);
        Ex { text, ty, range: (a.0.min(b.0), a.1.max(b.1)), shared, stores }
    }
}
