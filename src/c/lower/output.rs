//! Output: `printf` and what is like it.
//!
//! In: a format and arguments. Out: one print of the pieces of the text and the arguments, close together. What would not come out
//! as the graph prints it, such as hexadecimal numbers, is not read.

use super::ask::Done;
use super::builder::{Builder, Typed};
use crate::supported::Reason;
use crate::tree::ExprId;
use cssame_ir::{Instruction, Operand, ScalarType, Value};

/// A part of a format.
#[derive(Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    /// A number of that type.
    Number(ScalarType),
    /// `%s`.
    Text1,
    /// Something that only constants are printed by.
    Other(String),
}

impl Builder<'_, '_> {
    /// `printf`, with the format at that place among the arguments.
    pub fn print(&mut self, arguments: &[ExprId], index: usize, expr: ExprId) -> Done<()> {
        let place = self.expr(expr).place;
        let Some(format) = arguments.get(index).and_then(|&format| self.literal_text(format)) else {
            return self.refuse(Reason::Format("no literal".into()), place);
        };
        let mut rest = arguments.get(index + 1..).unwrap_or_default().iter().copied();
        let mut printed: Vec<(Operand, ScalarType)> = Vec::new();
        for piece in pieces(&format) {
            let Some((operand, ty)) = self.piece(piece, &mut rest, expr)? else { continue };
            printed.push((operand, ty));
        }
        for argument in rest {
            self.effect(argument)?;
        }
        self.emit(Instruction::Print { arguments: printed, spaced: false }, place.span);
        Ok(())
    }

    fn piece(
        &mut self,
        piece: Piece,
        rest: &mut impl Iterator<Item = ExprId>,
        expr: ExprId,
    ) -> Done<Option<(Operand, ScalarType)>> {
        let place = self.expr(expr).place;
        let text = match piece {
            Piece::Text(text) => text,
            Piece::Number(ty) => {
                let Some(argument) = rest.next() else {
                    return self.refuse(Reason::Format("too few arguments".into()), place);
                };
                let value = self.value_as(argument, ty)?;
                return Ok(Some((value, ty)));
            }
            Piece::Text1 => match rest.next().and_then(|text| self.literal_text(text)) {
                Some(text) => text,
                None => return self.refuse(Reason::Format("`%s` of a value that is not a literal".into()), place),
            },
            // Where an object lies is for the search to choose.
            Piece::Other(what) if what == "%p" => {
                if let Some(pointer) = rest.next() {
                    self.value(pointer)?;
                }
                "(pointer)".to_owned()
            }
            Piece::Other(what) => {
                let constant = rest.next().and_then(|argument| self.unit.integer(argument));
                match constant.and_then(|value| written(&what, value)) {
                    Some(text) => text,
                    None => return self.refuse(Reason::Format(format!("`{what}`").into()), place),
                }
            }
        };
        let text = self.lowering.text(&text);
        Ok(Some((Operand::Constant(Value::String(text)), ScalarType::String)))
    }

    /// `puts`.
    pub fn put_text(&mut self, text: ExprId, expr: ExprId, wanted: bool) -> Done<()> {
        let place = self.expr(expr).place;
        match self.literal_text(text) {
            Some(text) if !wanted => self.put(text, place),
            Some(_) => self.refuse(Reason::ResultOf("puts".into()), place),
            None => self.refuse(Reason::Format("`puts` of a value that is not a literal".into()), place),
        }
    }

    /// `putchar`.
    pub fn put_sign(&mut self, sign: ExprId, expr: ExprId, wanted: bool) -> Done<()> {
        let place = self.expr(expr).place;
        match self.unit.integer(sign) {
            Some(_) if wanted => self.refuse(Reason::ResultOf("putchar".into()), place),
            Some(10) => self.put(String::new(), place),
            Some(sign) => self.put(char::from(sign as u8).to_string(), place),
            None => self.refuse(Reason::Format("`putchar` of a value that is not a constant".into()), place),
        }
    }

    fn put(&mut self, text: String, place: crate::tree::Place) -> Done<()> {
        let text = Typed::constant(Value::String(self.lowering.text(&text)));
        self.emit(Instruction::Print { arguments: vec![(text.operand, text.ty)], spaced: false }, place.span);
        Ok(())
    }
}

/// A constant by a conversion.
fn written(conversion: &str, value: i128) -> Option<String> {
    let sign = conversion.chars().last()?;
    let plain = conversion.trim_start_matches('%').trim_end_matches(sign);
    if !plain.chars().all(|sign| "hlzjt".contains(sign)) {
        return None;
    }
    let bits = if plain.contains(['l', 'z', 'j', 't']) { value as u64 } else { u64::from(value as u32) };
    Some(match sign {
        'c' => char::from(value as u8).to_string(),
        'x' => format!("{bits:x}"),
        'X' => format!("{bits:X}"),
        'o' => format!("{bits:o}"),
        _ => return None,
    })
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

fn conversion_piece(conversion: String) -> Piece {
    use ScalarType::{Int, Long, Short, SignedChar, UnsignedChar, UnsignedInt, UnsignedLong, UnsignedShort};
    Piece::Number(match conversion.as_str() {
        "%d" | "%i" => Int,
        "%u" => UnsignedInt,
        "%ld" | "%li" | "%lld" | "%lli" | "%zd" | "%jd" | "%td" => Long,
        "%lu" | "%llu" | "%zu" | "%ju" => UnsignedLong,
        "%hd" | "%hi" => Short,
        "%hu" => UnsignedShort,
        "%hhd" | "%hhi" => SignedChar,
        "%hhu" => UnsignedChar,
        "%f" | "%lf" => ScalarType::Double,
        "%s" => return Piece::Text1,
        _ => return Piece::Other(conversion),
    })
}
