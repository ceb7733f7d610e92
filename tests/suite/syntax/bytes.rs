//! Files that are given as bytes: encodings and sizes.

use super::{describe, errors};
use cssame::front::add_bytes;
use cssame::front::csm::syntax::parse;
use cssame::source::SourceMap;

fn add(bytes: &[u8]) -> Result<String, String> {
    let mut sources = SourceMap::default();
    match add_bytes(&mut sources, "test.csm", bytes) {
        Ok(file) => Ok(sources.file(file).text().to_owned()),
        Err(diagnostic) => Err(describe(&sources, &diagnostic)),
    }
}

#[test]
fn text_is_added_without_its_byte_order_mark() {
    assert_eq!(add("int é = 1;".as_bytes()), Ok("int é = 1;".to_owned()));
    assert_eq!(add("\u{feff}int a;".as_bytes()), Ok("int a;".to_owned()));
}

#[test]
fn bytes_that_are_no_text_are_shown_at_their_place() {
    assert_eq!(add(b"int a;\nint \xff;"), Err("CS0108 2:5 `test.csm` is not a text file".to_owned()));
    assert_eq!(add(b"int a;\0"), Err("CS0108 1:7 `test.csm` is not a text file".to_owned()));
    // UTF-16 with its mark.
    assert_eq!(add(b"\xff\xfei\0n\0t\0"), Err("CS0108 1:1 `test.csm` is not a text file".to_owned()));
    // Cut within a character.
    assert_eq!(add(b"// \xc3"), Err("CS0108 1:4 `test.csm` is not a text file".to_owned()));
}

#[test]
fn a_file_past_the_limit_is_not_read() {
    let bytes = vec![b' '; (256 << 20) + 1];
    assert_eq!(add(&bytes), Err("CS0902 - `test.csm` is too large: 256 MiB and more, the limit is 256 MiB".to_owned()));
}

#[test]
fn a_file_without_a_program_is_reported() {
    for text in ["", " \t\r\n", "// nothing", "/* nothing */\n", ";"] {
        assert_eq!(errors(text), ["CS0109 1:1 the file holds no program"], "{text:?}");
    }
    let mut sources = SourceMap::default();
    let file = add_bytes(&mut sources, "empty.csm", b"").unwrap();
    assert_eq!(parse(&sources, file).diagnostics.len(), 1);
}
