//! Names of documents.
//!
//! **Input**: a URI in the form of a client. **Output**: its normal form, which identifies a document and is sent back, and the
//! path of a file.
//!
//! **Algorithm**: as in browsers (the URL standard of the WHATWG): a scheme is in lower case, `.` and `..` are resolved, and
//! characters that are not allowed in a part are percent-encoded. Other escapes stay unchanged: `%C3` and `%c3` are two
//! documents, as in editors.
//!
//! **Limits**: an authority stays unchanged, except for the host of a `file`, which is in lower case, and absent if it is
//! `localhost`. The validity of hosts and ports is not checked, and `http` and similar schemes have no special rules.

use serde::{Deserialize, Serialize};

/// What may not stand in a path, a query or a fragment, besides controls and what is not ASCII.
const OF_PATH: &str = " \"<>`{}";
const OF_QUERY: &str = " \"#<>";
const OF_FILE_QUERY: &str = " \"#<>'";
const OF_FRAGMENT: &str = " \"<>`";
/// The same of the host of a file, which is decoded first.
const OF_HOST: &str = " #%/<>?";

/// A URI in normal form.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(try_from = "String")]
pub(super) struct Uri(String);

impl TryFrom<String> for Uri {
    type Error = String;

    fn try_from(text: String) -> Result<Uri, String> {
        normal(&text).map(Uri).ok_or_else(|| format!("relative URL without a base: {text:?}"))
    }
}

impl Uri {
    /// That of a file, by its absolute path; none for a path that is not absolute.
    pub(super) fn of_file(path: &str) -> Option<Uri> {
        let path = path.replace('%', "%25").replace('#', "%23").replace('?', "%3F");
        Uri::try_from(format!("file://{path}")).ok().filter(|uri| uri.to_file_path().is_some())
    }

    /// Its text.
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// The path of a file, of whatever scheme; none where the path is not absolute, or lies on another machine.
    pub(super) fn to_file_path(&self) -> Option<String> {
        let (scheme, rest) = self.0.split_once(':')?;
        let rest = &rest[..rest.find(['?', '#']).unwrap_or(rest.len())];
        let (host, path) = rest.strip_prefix("//").map_or(("", rest), |rest| cut(rest, '/'));
        let is_local = host.is_empty() || host == "localhost";
        if !path.starts_with('/') || !is_local && !(cfg!(windows) && scheme == "file") {
            return None;
        }
        if cfg!(windows) {
            return windows_path(if is_local { "" } else { host }, path);
        }
        Some(String::from_utf8_lossy(&decoded(path)).into_owned())
    }
}

/// `C:\a.csm` of `/C:/a.csm`, `\\host\a.csm` of `/a.csm` on a host.
fn windows_path(host: &str, path: &str) -> Option<String> {
    let path = String::from_utf8(decoded(&path.replace('/', "\\"))).ok()?;
    if !host.is_empty() {
        return Some(format!("\\\\{host}{path}"));
    }
    path.strip_prefix('\\').filter(|path| is_drive(cut(path, '\\').0)).map(str::to_owned)
}

/// The normal form; none of what has no scheme.
fn normal(text: &str) -> Option<String> {
    let text = text.trim_matches(|character| character <= ' ').replace(['\t', '\n', '\r'], "");
    let (scheme, rest) = text.split_once(':')?;
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    if !is_scheme {
        return None;
    }
    let scheme = scheme.to_ascii_lowercase();
    let (rest, fragment) = cut(rest, '#');
    let (rest, query) = cut(rest, '?');
    let is_file = scheme == "file";
    let place = if is_file { file(&rest.replace('\\', "/")) } else { other(rest) };
    let query = encoded(query, if is_file { OF_FILE_QUERY } else { OF_QUERY });
    Some(format!("{scheme}:{place}{query}{}", encoded(fragment, OF_FRAGMENT)))
}

/// The part of a file before query and fragment.
fn file(rest: &str) -> String {
    let (host, path) = rest.strip_prefix("//").map_or(("", rest), |rest| cut(rest, '/'));
    // `file://c:/a` has no host.
    let (host, path) = if is_drive(host) { ("", &rest[1..]) } else { (host, path) };
    let host = String::from_utf8_lossy(&decoded(host)).to_ascii_lowercase();
    let path = format!("/{}", absolute(path, true).trim_start_matches('/'));
    let is_local = host == "localhost" || is_drive(cut(&path[1..], '/').0);
    format!("//{}{path}", if is_local { String::new() } else { encoded(&host, OF_HOST) })
}

/// The same part of what is not a file.
fn other(rest: &str) -> String {
    if let Some(rest) = rest.strip_prefix("//") {
        let (authority, path) = cut(rest, '/');
        let path = if path.is_empty() { String::new() } else { absolute(path, false) };
        return format!("//{}{path}", encoded(authority, ""));
    }
    if !rest.starts_with('/') {
        return encoded(rest, "");
    }
    let path = absolute(rest, false);
    // Else its first segment would be an authority.
    if path.starts_with("//") { format!("/.{path}") } else { path }
}

/// An absolute path without `.` and `..`.
fn absolute(path: &str, is_file: bool) -> String {
    let mut segments: Vec<String> = Vec::new();
    let mut parts = path.strip_prefix('/').unwrap_or(path).split('/').peekable();
    while let Some(part) = parts.next() {
        let dots = part.to_ascii_lowercase().replace("%2e", ".");
        match dots.as_str() {
            "." => {}
            ".." if is_file && segments.len() == 1 && is_drive(&segments[0]) => {}
            ".." => drop(segments.pop()),
            _ => segments.push(encoded(part, OF_PATH)),
        }
        // A path that ends with dots is one of a folder.
        if parts.peek().is_none() && [".", ".."].contains(&dots.as_str()) {
            segments.push(String::new());
        }
    }
    format!("/{}", segments.join("/"))
}

/// Whether a segment is the drive of a path of Windows, as `C:`.
fn is_drive(segment: &str) -> bool {
    matches!(segment.as_bytes(), [letter, b':'] if letter.is_ascii_alphabetic())
}

/// What stands before a sign, and the rest, which begins with it if there is one.
fn cut(text: &str, sign: char) -> (&str, &str) {
    text.split_at(text.find(sign).unwrap_or(text.len()))
}

/// A text with escapes in place of controls, of what is not ASCII, and of what else is forbidden.
fn encoded(text: &str, forbidden: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if !byte.is_ascii() || byte.is_ascii_control() || forbidden.as_bytes().contains(&byte) {
            encoded += &format!("%{byte:02X}");
        } else {
            encoded.push(char::from(byte));
        }
    }
    encoded
}

/// The bytes that escapes stand for. What looks like an escape and is none stands for itself.
fn decoded(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let digit = |at: usize| bytes.get(at).and_then(|byte| char::from(*byte).to_digit(16));
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        if let (b'%', Some(high), Some(low)) = (bytes[at], digit(at + 1), digit(at + 2)) {
            decoded.push((16 * high + low) as u8);
            at += 3;
        } else {
            decoded.push(bytes[at]);
            at += 1;
        }
    }
    decoded
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uri(text: &str) -> Uri {
        Uri::try_from(text.to_owned()).unwrap()
    }

    #[test]
    fn a_uri_has_one_form() {
        for (text, expected) in [
            // What editors send stays as it is.
            ("file:///tmp/a%20b.csm", "file:///tmp/a%20b.csm"),
            ("file:///c%3A/x/%C3%A9.csm", "file:///c%3A/x/%C3%A9.csm"),
            ("file:///C:/x/%c3%a9.csm", "file:///C:/x/%c3%a9.csm"),
            ("untitled:100%-1", "untitled:100%-1"),
            ("vscode-remote://wsl%2Bubuntu/a.csm", "vscode-remote://wsl%2Bubuntu/a.csm"),
            // What may not stand there is encoded.
            ("file:///tmp/a b\"é.csm", "file:///tmp/a%20b%22%C3%A9.csm"),
            ("untitled:é b", "untitled:%C3%A9 b"),
            ("git:/a.csm?{\"a b\":'é'}#`c`#", "git:/a.csm?{%22a%20b%22:'%C3%A9'}#%60c%60#"),
            ("file:///a?'", "file:///a?%27"),
            // Dots, slashes, white space.
            ("file:///a/./b/../c/%2e%2E/d", "file:///a/d"),
            ("file:///a/..", "file:///"),
            ("file:////a//b", "file:///a//b"),
            ("file:a\\b", "file:///a/b"),
            ("x:/a/..//b", "x:/.//b"),
            (" FILE:///a\n/b\t\0", "file:///a/b"),
            // Hosts and drives.
            ("file://LocalHost/a", "file:///a"),
            ("file://Server/a", "file://server/a"),
            ("file://wsl%24/a", "file://wsl$/a"),
            ("file://", "file:///"),
            ("file://c:/../a", "file:///c:/a"),
            ("file://server/c:/a", "file:///c:/a"),
        ] {
            assert_eq!(uri(text).as_str(), expected, "{text}");
            assert_eq!(uri(expected).as_str(), expected, "the form of a form: {text}");
        }
    }

    #[test]
    fn without_a_scheme_it_is_none() {
        for text in ["", "a", "/tmp/a.csm", "1a:/x", "é:/x", "a b:/x", ":/x"] {
            let error = Uri::try_from(text.to_owned()).unwrap_err();
            assert_eq!(error, format!("relative URL without a base: {text:?}"));
        }
    }

    #[test]
    #[cfg(not(windows))]
    fn a_file_has_a_path() {
        for (text, expected) in [
            ("file:///tmp/a%20b%23.csm?q#f", Some("/tmp/a b#.csm")),
            ("file:///%C3%A9/%ff/100%/%zz%f", Some("/é/\u{fffd}/100%/%zz%f")),
            ("file:///c%3A/a.csm", Some("/c:/a.csm")),
            ("file://server/a.csm", None),
            ("untitled:a.csm", None),
            ("untitled:/a.csm", Some("/a.csm")),
            ("x://localhost/a.csm", Some("/a.csm")),
        ] {
            assert_eq!(uri(text).to_file_path().as_deref(), expected, "{text}");
        }
    }

    #[test]
    #[cfg(not(windows))]
    fn a_path_has_a_uri() {
        for path in ["/tmp/a b.h", "/tmp/100%/a#1?.h", "/é/%20.h"] {
            assert_eq!(Uri::of_file(path).and_then(|uri| uri.to_file_path()).as_deref(), Some(path));
        }
        assert_eq!(Uri::of_file("beside/a.h"), None);
    }

    #[test]
    fn a_path_of_windows_has_a_drive_or_a_host() {
        for (host, path, expected) in [
            ("", "/c%3A/x/a%20b.csm", Some("c:\\x\\a b.csm")),
            ("", "/C:/", Some("C:\\")),
            ("", "/tmp/a.csm", None),
            ("", "/c:/%ff", None),
            ("server", "/share/a.csm", Some("\\\\server\\share\\a.csm")),
        ] {
            assert_eq!(windows_path(host, path).as_deref(), expected, "{host} {path}");
        }
    }
}
