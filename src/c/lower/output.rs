//! Output: `printf` and what is like it.
//!
//! In: a format and arguments. Out: one print of the pieces of the text and the arguments, close together. A text that is no literal
//! is read character by character, in a loop that prints a part of the line. Conversions that [`Conversion`] does not know are not
//! read.

use super::ask::Done;
use super::builder::{Builder, Typed};
use super::home::{Home, Lvalue};
use crate::supported::Reason;
use crate::tree::{ExprId, Place as TreePlace};
use cssame_ir::{
    Arithmetic, Base, BinaryOperator, Conversion, Instruction, Letter, Line, Operand, Place, Printed, RegisterId,
    ScalarType, Terminator, Value,
};

/// A part of a format.
#[derive(Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    /// A value of that type.
    Value(Conversion, ScalarType),
    /// `%s`.
    Characters(Conversion),
    /// `%p`.
    Pointer,
    Unread(String),
}

impl Builder<'_, '_> {
    /// `printf`, with the format at that place among the arguments.
    pub fn print(&mut self, arguments: &[ExprId], index: usize, expr: ExprId) -> Done<()> {
        let place = self.expr(expr).place;
        let Some(format) = arguments.get(index).and_then(|&format| self.literal_text(format)) else {
            return self.refuse(Reason::Format("no literal".into()), place);
        };
        let mut rest = arguments.get(index + 1..).unwrap_or_default().iter().copied();
        let mut printed: Vec<Printed> = Vec::new();
        for piece in pieces(&format) {
            self.piece(piece, &mut rest, &mut printed, place)?;
        }
        for argument in rest {
            self.effect(argument)?;
        }
        self.emit(Instruction::Print { arguments: printed, line: Line::Close }, place.span);
        Ok(())
    }

    fn piece(
        &mut self,
        piece: Piece,
        rest: &mut impl Iterator<Item = ExprId>,
        printed: &mut Vec<Printed>,
        place: TreePlace,
    ) -> Done<()> {
        if let Piece::Text(text) = piece {
            printed.push(self.text_to_print(&text, None));
            return Ok(());
        }
        let Some(argument) = rest.next() else {
            return self.refuse(Reason::Format("too few arguments".into()), place);
        };
        match piece {
            Piece::Text(_) => {}
            Piece::Value(conversion, ty) => {
                let operand = self.value_as(argument, ty)?;
                printed.push(Printed { operand, ty, conversion: Some(conversion) });
            }
            Piece::Characters(conversion) => match self.literal_text(argument) {
                Some(text) => printed.push(self.text_to_print(&text, Some(conversion))),
                None if conversion.width > 0 && !conversion.left => {
                    let what = "`%s` with a width, of a value that is not a literal";
                    return self.refuse(Reason::Format(what.into()), place);
                }
                None => {
                    let begun = std::mem::take(printed);
                    self.emit(Instruction::Print { arguments: begun, line: Line::Open }, place.span);
                    self.characters(argument, conversion, place)?;
                }
            },
            // Where an object lies is for the search to choose.
            Piece::Pointer => {
                self.value(argument)?;
                printed.push(self.text_to_print("(pointer)", None));
            }
            Piece::Unread(what) => return self.refuse(Reason::Format(format!("`{what}`").into()), place),
        }
        Ok(())
    }

    fn text_to_print(&mut self, text: &str, conversion: Option<Conversion>) -> Printed {
        let text = self.lowering.text(text);
        Printed { operand: Operand::Constant(Value::String(text)), ty: ScalarType::String, conversion }
    }

    /// Prints the characters from a pointer on, up to the zero behind them, as a part of a line.
    fn characters(&mut self, argument: ExprId, conversion: Conversion, place: TreePlace) -> Done<()> {
        let span = self.span(argument);
        let operand = self.value_as(argument, ScalarType::Pointer)?;
        let (at, count) = (self.temporary(ScalarType::Pointer, span), self.temporary(ScalarType::Long, span));
        let first = self.converted(Typed { operand, ty: ScalarType::Pointer }, ScalarType::Pointer, span);
        self.emit(Instruction::Copy { dest: at, source: first }, span);
        self.emit(Instruction::Copy { dest: count, source: Operand::Constant(Value::Long(0)) }, span);
        let (null, head, exit) = (self.new_block(), self.new_block(), self.new_block());
        let nowhere = Operand::Constant(super::datum::zero(ScalarType::Pointer));
        let operands = (Operand::Register(at), nowhere);
        let condition = self.operation(BinaryOperator::Equal, ScalarType::Bool, operands, span);
        self.terminate(Terminator::Branch { condition, then_block: null, else_block: head }, span);
        self.current = null;
        let text = self.text_to_print("(null)", None);
        self.emit(Instruction::Print { arguments: vec![text], line: Line::Open }, place.span);
        self.terminate(Terminator::Jump(exit), span);
        self.current = head;
        if let Some(most) = conversion.precision {
            let body = self.new_block();
            let most = Operand::Constant(Value::Long(i64::from(most)));
            self.branch_where_less((Operand::Register(count), most), (body, exit), place);
            self.current = body;
        }
        self.next_character(argument, (at, count), (head, exit), place)?;
        self.current = exit;
        if conversion.width > 0 {
            self.pad(count, conversion.width, place);
        }
        Ok(())
    }

    /// Prints one character, and goes on behind it; not where it is the zero.
    fn next_character(
        &mut self,
        argument: ExprId,
        (at, count): (RegisterId, RegisterId),
        (head, exit): (cssame_ir::BlockId, cssame_ir::BlockId),
        place: TreePlace,
    ) -> Done<()> {
        let span = self.span(argument);
        let pointee = self.unit.pointee(self.expr(argument).ty);
        let Some(of) = pointee else { return self.refuse(Reason::Format("no text".into()), place) };
        let ty = match self.input().scalar(self.key.unit, of) {
            Some(ty) if ty.integer().is_some_and(|integer| integer.bits == 8) => ty,
            _ => ScalarType::SignedChar,
        };
        let owner = self.input().target(self.key.unit, argument);
        let span_of_text = self.lowering.balanced(span);
        let home = Home::Memory(Place::at(Base::Pointer(at), 0));
        let lvalue = Lvalue { scalar: Some(ty), ..Lvalue::whole(home, of, owner, span_of_text) };
        let sign = self.load(&lvalue, argument)?;
        if let Some(read) = self.lowering.program.reads.iter_mut().last() {
            let name = format!("*{}", self.lowering.program.texts.get(read.name));
            read.name = self.lowering.program.texts.intern(&name);
        }
        let body = self.new_block();
        let zero = Typed::constant(super::datum::zero(ty));
        let condition = self.same(sign, zero, span).operand;
        self.terminate(Terminator::Branch { condition, then_block: exit, else_block: body }, span);
        self.current = body;
        let conversion = Some(Conversion::plain(Letter::Character));
        let arguments = vec![Printed { operand: sign.operand, ty, conversion }];
        self.emit(Instruction::Print { arguments, line: Line::Open }, place.span);
        let one = Operand::Constant(Value::Long(1));
        let next = self.plus(Typed::register(at, ScalarType::Pointer), one, span);
        self.emit(Instruction::Copy { dest: at, source: next.operand }, span);
        let more = self.long_binary(BinaryOperator::Add, Operand::Register(count), one, span);
        self.emit(Instruction::Copy { dest: count, source: more }, span);
        self.terminate(Terminator::Jump(head), span);
        Ok(())
    }

    /// Prints blanks behind so many characters, up to a width.
    fn pad(&mut self, count: RegisterId, width: u16, place: TreePlace) {
        let (head, body, exit) = (self.new_block(), self.new_block(), self.new_block());
        self.jump_into(head, place.span);
        let width = Operand::Constant(Value::Long(i64::from(width)));
        self.branch_where_less((Operand::Register(count), width), (body, exit), place);
        self.current = body;
        let blank = self.text_to_print(" ", None);
        self.emit(Instruction::Print { arguments: vec![blank], line: Line::Open }, place.span);
        let one = Operand::Constant(Value::Long(1));
        let more = self.long_binary(BinaryOperator::Add, Operand::Register(count), one, place.span);
        self.emit(Instruction::Copy { dest: count, source: more }, place.span);
        self.terminate(Terminator::Jump(head), place.span);
        self.current = exit;
    }

    fn branch_where_less(
        &mut self,
        operands: (Operand, Operand),
        (then_block, else_block): (cssame_ir::BlockId, cssame_ir::BlockId),
        place: TreePlace,
    ) {
        let condition = self.operation(BinaryOperator::Less(Arithmetic::Long), ScalarType::Bool, operands, place.span);
        self.terminate(Terminator::Branch { condition, then_block, else_block }, place.span);
    }

    /// `puts`, and `fputs`.
    pub fn put_text(&mut self, text: ExprId, expr: ExprId, wanted: bool) -> Done<()> {
        let place = self.expr(expr).place;
        if wanted {
            return self.refuse(Reason::ResultOf("puts".into()), place);
        }
        let mut arguments = Vec::new();
        match self.literal_text(text) {
            Some(text) => arguments.push(self.text_to_print(text.strip_suffix('\n').unwrap_or(&text), None)),
            None => self.characters(text, Conversion::plain(Letter::Text), place)?,
        }
        self.emit(Instruction::Print { arguments, line: Line::Close }, place.span);
        Ok(())
    }

    /// `putchar`, and `fputc`.
    pub fn put_sign(&mut self, sign: ExprId, expr: ExprId, wanted: bool) -> Done<()> {
        let place = self.expr(expr).place;
        if wanted {
            return self.refuse(Reason::ResultOf("putchar".into()), place);
        }
        let printed = match self.unit.integer(sign) {
            Some(10) => self.text_to_print("", None),
            _ => {
                let operand = self.value_as(sign, ScalarType::Int)?;
                let conversion = Some(Conversion::plain(Letter::Character));
                Printed { operand, ty: ScalarType::Int, conversion }
            }
        };
        self.emit(Instruction::Print { arguments: vec![printed], line: Line::Close }, place.span);
        Ok(())
    }
}

/// The parts of a format, without the end of its last line.
fn pieces(format: &str) -> Vec<Piece> {
    let format = format.strip_suffix('\n').unwrap_or(format);
    let mut pieces = Vec::new();
    let mut text = String::new();
    let mut signs = format.chars();
    while let Some(sign) = signs.next() {
        if sign != '%' {
            text.push(sign);
            continue;
        }
        let mut conversion = String::from("%");
        for sign in signs.by_ref() {
            conversion.push(sign);
            if sign.is_ascii_alphabetic() && !"hlzjt".contains(sign) || sign == '%' {
                break;
            }
        }
        if conversion == "%%" {
            text.push('%');
            continue;
        }
        if !text.is_empty() {
            pieces.push(Piece::Text(std::mem::take(&mut text)));
        }
        pieces.push(conversion_piece(conversion));
    }
    if !text.is_empty() {
        pieces.push(Piece::Text(text));
    }
    pieces
}

fn conversion_piece(text: String) -> Piece {
    use ScalarType::{Int, Long, Short, SignedChar, UnsignedChar, UnsignedInt, UnsignedLong, UnsignedShort};
    let (conversion, length) = match Conversion::parse(&text) {
        Some(parsed) => parsed,
        None if text == "%p" => return Piece::Pointer,
        None => return Piece::Unread(text),
    };
    let is_signed = text.ends_with(['d', 'i']);
    let ty = match (conversion.letter, length, is_signed) {
        (Letter::Text, "", _) => return Piece::Characters(conversion),
        (Letter::Fixed, "" | "l", _) => ScalarType::Double,
        (Letter::Character, "", _) | (Letter::Decimal, "", true) => Int,
        (Letter::Text | Letter::Fixed | Letter::Character, ..) => return Piece::Unread(text),
        (_, "", false) => UnsignedInt,
        (_, "l" | "ll" | "z" | "j" | "t", true) => Long,
        (_, "l" | "ll" | "z" | "j" | "t", false) => UnsignedLong,
        (_, "h", true) => Short,
        (_, "h", false) => UnsignedShort,
        (_, "hh", true) => SignedChar,
        (_, "hh", false) => UnsignedChar,
        _ => return Piece::Unread(text),
    };
    Piece::Value(conversion, ty)
}
