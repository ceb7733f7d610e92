//! The settings of a C compiler that decide what a text means.

use std::fmt;
use std::path::PathBuf;

/// What the command line of a compiler says of how a text is read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Directories of headers, `-I`, in order.
    pub include: Vec<PathBuf>,
    /// Definitions of macros, `-D`: `NAME` or `NAME=text`.
    pub define: Vec<String>,
    /// Macros that are not to be defined, `-U`.
    pub undefine: Vec<String>,
    /// Files that are read before the main one, `-include`.
    pub preinclude: Vec<String>,
    /// The dialect, `-std`.
    pub standard: Standard,
    /// Sizes of types, `-m32`.
    pub data_model: DataModel,
    /// Whether arithmetic on types with a sign wraps where the result does not fit, `-fwrapv`, instead of being undefined.
    pub wraps: bool,
}

/// How wide `long` and pointers are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DataModel {
    /// 64 bits.
    #[default]
    Lp64,
    /// 32 bits.
    Ilp32,
}

/// The dialects of C, oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Edition {
    /// ISO C of 1990.
    C89,
    /// ISO C of 1999.
    C99,
    /// ISO C of 2011: threads and atomics.
    C11,
    /// ISO C of 2018.
    C17,
    /// ISO C of 2024.
    C23,
}

/// A dialect, with or without the extensions of GNU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standard {
    /// The edition of the standard.
    pub edition: Edition,
    /// Whether the extensions of GNU are on that would break a strictly conforming program.
    pub gnu: bool,
}

impl Default for Standard {
    fn default() -> Self {
        Standard { edition: Edition::C17, gnu: true }
    }
}

/// Why a name is not that of a dialect of C.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StandardError {
    /// It is one of C++.
    CPlusPlus,
    /// It is none at all.
    Unknown,
}

impl fmt::Display for StandardError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            StandardError::CPlusPlus => "a dialect of C++, which is not read",
            StandardError::Unknown => "not a dialect of C: use c89, c99, c11, c17, c23, or one with gnu instead of c",
        })
    }
}

impl Standard {
    /// The dialect of that name, as `-std` has it.
    ///
    /// # Errors
    /// It is no name of a dialect of C.
    pub fn parse(name: &str) -> Result<Standard, StandardError> {
        let (gnu, year) = match (name.strip_prefix("gnu"), name.strip_prefix('c')) {
            (Some(year), _) => (true, year),
            (None, Some(year)) => (false, year),
            (None, None) => (false, name.strip_prefix("iso9899:").ok_or(StandardError::Unknown)?),
        };
        let edition = match year {
            "89" | "90" | "1990" | "199409" => Edition::C89,
            "99" | "9x" | "1999" | "199x" => Edition::C99,
            "11" | "1x" | "2011" => Edition::C11,
            "17" | "18" | "2017" | "2018" => Edition::C17,
            "23" | "2x" | "2024" => Edition::C23,
            _ if year.starts_with("++") => return Err(StandardError::CPlusPlus),
            _ => return Err(StandardError::Unknown),
        };
        Ok(Standard { edition, gnu })
    }
}

impl Options {
    /// The options of the command line of a compiler: `-I DIR`, `-D NAME`, `-U NAME`, `-include FILE` (each also in one word),
    /// `-std=NAME`, `-m32`, `-m64`, `-fwrapv`.
    ///
    /// # Errors
    /// What is wrong with them, as a sentence.
    pub fn parse(arguments: &[String]) -> Result<Options, String> {
        let mut options = Options::default();
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let mut value = |name: &str| match argument.strip_prefix(name) {
                Some("") => rest.next().cloned().ok_or_else(|| format!("`{name}` needs a value")),
                Some(value) => Ok(value.to_owned()),
                None => Err(format!("`{argument}` is not an option for reading C")),
            };
            match argument.as_str() {
                "-m32" => options.data_model = DataModel::Ilp32,
                "-m64" => options.data_model = DataModel::Lp64,
                "-fwrapv" => options.wraps = true,
                "-fno-wrapv" => options.wraps = false,
                one if one.starts_with("-std=") => {
                    let name = &one["-std=".len()..];
                    options.standard = Standard::parse(name).map_err(|problem| format!("`{name}` is {problem}"))?;
                }
                one if one.starts_with("-include") => options.preinclude.push(value("-include")?),
                one if one.starts_with("-I") => options.include.push(value("-I")?.into()),
                one if one.starts_with("-D") => options.define.push(value("-D")?),
                one if one.starts_with("-U") => options.undefine.push(value("-U")?),
                _ => return Err(format!("`{argument}` is not an option for reading C")),
            }
        }
        Ok(options)
    }
}
