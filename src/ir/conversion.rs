//! How C's `printf` writes a value.
//!
//! **Input**: a conversion as a format has it, such as `%-8s` or `%05.2f`, and the text of a value without its sign. **Output**: a
//! [`Conversion`], and the text with sign and padding. What is not here: `*` as width, `%e`, `%g`, `%n`, the flags `#` and blank,
//! and a precision of whole numbers.

use std::fmt::{self, Write};

/// What a conversion makes of a value: the conversion specifier of ISO C.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Letter {
    /// `d`, `i`, `u`: a whole number.
    Decimal,
    /// `x`: without sign.
    Hexadecimal,
    /// `X`
    UpperHexadecimal,
    /// `o`
    Octal,
    /// `c`: one character.
    Character,
    /// `s`: a text.
    Text,
    /// `f`: a number with so many digits behind the point as the precision says, else six.
    Fixed,
}

/// How they are written.
const LETTERS: [(Letter, &str); 7] = [
    (Letter::Decimal, "d"),
    (Letter::Hexadecimal, "x"),
    (Letter::UpperHexadecimal, "X"),
    (Letter::Octal, "o"),
    (Letter::Character, "c"),
    (Letter::Text, "s"),
    (Letter::Fixed, "f"),
];

/// A conversion of `printf`: a conversion specification of ISO C, 7.21.6.1, without its length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Conversion {
    /// What it makes.
    pub letter: Letter,
    /// `-`: padded behind, not before.
    pub left: bool,
    /// `0`: padded with zeros.
    pub zeros: bool,
    /// `+`: a number that is not negative has a sign too.
    pub plus: bool,
    /// At least so many characters.
    pub width: u16,
    /// So many digits behind the point, or at most so many characters of a text.
    pub precision: Option<u16>,
}

impl Conversion {
    /// Without flags, width and precision.
    #[must_use]
    pub fn plain(letter: Letter) -> Conversion {
        Conversion { letter, left: false, zeros: false, plus: false, width: 0, precision: None }
    }

    /// A conversion as it is written, and its length modifiers: `%08lx` is `%08x` and `l`. `None` where it is none of these.
    #[must_use]
    pub fn parse(text: &str) -> Option<(Conversion, &str)> {
        let text = text.strip_prefix('%')?;
        let rest = text.trim_start_matches(['-', '0', '+']);
        let flags = &text[..text.len() - rest.len()];
        let (width, rest) = number(rest);
        let (precision, rest) = match rest.strip_prefix('.') {
            Some(rest) => {
                let (digits, rest) = number(rest);
                (Some(digits?), rest)
            }
            None => (None, rest),
        };
        let length = rest.trim_end_matches(|sign: char| !"hlzjt".contains(sign));
        let written = &rest[length.len()..];
        let letter = match written {
            "i" | "u" => Letter::Decimal,
            "F" => Letter::Fixed,
            _ => LETTERS.into_iter().find(|(_, of)| *of == written)?.0,
        };
        if precision.is_some() && !matches!(letter, Letter::Text | Letter::Fixed) {
            return None;
        }
        let has = |sign: char| flags.contains(sign);
        // A sign is for numbers that have one.
        let plus = has('+') && written != "u";
        let conversion = Conversion { letter, left: has('-'), zeros: has('0'), plus, width: width?, precision };
        Some((conversion, length))
    }

    /// Appends a value: its sign, and its digits or characters.
    pub fn write(self, is_negative: bool, digits: &str, out: &mut String) {
        let is_number = matches!(self.letter, Letter::Decimal | Letter::Fixed);
        let sign = match is_number {
            true if is_negative => "-",
            true if self.plus => "+",
            _ => "",
        };
        let missing = usize::from(self.width).saturating_sub(sign.len() + digits.chars().count());
        let padding = |with: &str, is_here: bool| with.repeat(if is_here { missing } else { 0 });
        let with_zeros = self.zeros && !self.left && !matches!(self.letter, Letter::Character | Letter::Text);
        *out += &padding(" ", !self.left && !with_zeros);
        *out += sign;
        *out += &padding("0", with_zeros);
        *out += digits;
        *out += &padding(" ", self.left);
    }
}

impl fmt::Display for Conversion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('%')?;
        for (_, sign) in [(self.left, '-'), (self.zeros, '0'), (self.plus, '+')].iter().filter(|(has, _)| *has) {
            f.write_char(*sign)?;
        }
        if self.width > 0 {
            write!(f, "{}", self.width)?;
        }
        if let Some(precision) = self.precision {
            write!(f, ".{precision}")?;
        }
        f.write_str(LETTERS.into_iter().find(|(letter, _)| *letter == self.letter).map_or("", |(_, written)| written))
    }
}

/// The number at the beginning of a text, 0 without digits; `None` where it is too large.
fn number(text: &str) -> (Option<u16>, &str) {
    let rest = text.trim_start_matches(|sign: char| sign.is_ascii_digit());
    let digits = &text[..text.len() - rest.len()];
    (if digits.is_empty() { Some(0) } else { digits.parse().ok().filter(|&number: &u16| number <= 4096) }, rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(format: &str, is_negative: bool, digits: &str) -> Option<String> {
        let (conversion, _) = Conversion::parse(format)?;
        let mut out = String::new();
        conversion.write(is_negative, digits, &mut out);
        Some(out)
    }

    #[test]
    fn values_are_padded_as_printf_pads_them() {
        for (format, is_negative, digits, expected) in [
            ("%d", true, "7", "-7"),
            ("%+d", false, "7", "+7"),
            ("%+u", false, "7", "7"),
            ("%5d", true, "7", "   -7"),
            ("%-5d", true, "7", "-7   "),
            ("%05d", true, "7", "-0007"),
            ("%-05d", true, "7", "-7   "),
            ("%2d", false, "123", "123"),
            ("%08lx", false, "beef", "0000beef"),
            ("%+x", false, "beef", "beef"),
            ("%3c", false, "a", "  a"),
            ("%-6s", false, "abc", "abc   "),
            ("%06.2f", true, "1.50", "-01.50"),
        ] {
            assert_eq!(written(format, is_negative, digits).as_deref(), Some(expected), "{format}");
        }
    }

    #[test]
    fn what_is_not_known_is_no_conversion() {
        for format in ["%", "%*d", "%e", "%#x", "%.3d", "%5000d", "%n", "%ls2", "d"] {
            assert_eq!(Conversion::parse(format), None, "{format}");
        }
        for format in ["%d", "%-08.3f", "%+5d", "%.2s", "%c", "%02X", "%o"] {
            assert_eq!(Conversion::parse(format).map(|(of, _)| of.to_string()).as_deref(), Some(format));
        }
        assert_eq!(Conversion::parse("%llu"), Some((Conversion::plain(Letter::Decimal), "ll")));
    }
}
