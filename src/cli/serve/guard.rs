//! Access control: only pages of this server may send requests.
//!
//! **Input**: the head of a request. **Output**: the reason for a refusal, or the answer with headers that isolate the page.
//!
//! **Soundness**: other pages in the same browser can send requests to a loopback address, even by one of their own names that
//! resolves to it (DNS rebinding). They do not know the token of the address, which is a part of every path. They cannot set
//! `Host` and `Origin`, which must be those of this server.

use axum::extract::{Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HOST, ORIGIN, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

/// Scripts come from this server alone, and nothing is sent elsewhere. CodeMirror makes its styles in the page.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; img-src data:; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// What stands in every answer.
const HEADERS: [(HeaderName, &str); 5] = [
    (CONTENT_SECURITY_POLICY, POLICY),
    (CACHE_CONTROL, "no-store"),
    (REFERRER_POLICY, "no-referrer"),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// Refuses requests of others.
pub(super) async fn guard(State(port): State<u16>, request: Request, next: Next) -> Response {
    let refusal = refusal(request.headers(), port);
    let mut response = match refusal {
        Some(reason) => (StatusCode::FORBIDDEN, format!("refused: {reason}\n")).into_response(),
        None => next.run(request).await,
    };
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

/// What is said where the token is not that of this server.
pub(super) async fn not_found() -> (StatusCode, &'static str) {
    (StatusCode::FORBIDDEN, "refused: open the address that `cssame serve` has printed, all of it\n")
}

fn refusal(headers: &HeaderMap, port: u16) -> Option<&'static str> {
    let hosts = ["127.0.0.1", "localhost"].map(|name| format!("{name}:{port}"));
    let mut named = headers.get_all(HOST).iter();
    let is_own = |value: &HeaderValue| hosts.iter().any(|host| value.as_bytes() == host.as_bytes());
    let (Some(host), None) = (named.next().filter(|host| is_own(host)), named.next()) else {
        return Some("`Host` is not that of this server");
    };
    let own = [b"http://".as_slice(), host.as_bytes()].concat();
    headers.get_all(ORIGIN).iter().any(|origin| origin.as_bytes() != own).then_some("`Origin` is not this server")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(lines: &[(HeaderName, &'static str)]) -> bool {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(name, HeaderValue::from_static(value));
        }
        refusal(&headers, 8123).is_some()
    }

    #[test]
    fn only_pages_of_this_server_may_ask() {
        assert!(!refused(&[(HOST, "127.0.0.1:8123")]));
        assert!(!refused(&[(HOST, "localhost:8123"), (ORIGIN, "http://localhost:8123")]));
        for others in [
            &[][..],
            &[(HOST, "127.0.0.1")],
            &[(HOST, "127.0.0.1:8124")],
            &[(HOST, "evil.example:8123")],
            &[(HOST, "127.0.0.1:8123"), (HOST, "evil.example:8123")],
            &[(HOST, "127.0.0.1:8123"), (ORIGIN, "null")],
            &[(HOST, "127.0.0.1:8123"), (ORIGIN, "http://localhost:8123")],
            &[(HOST, "127.0.0.1:8123"), (ORIGIN, "https://127.0.0.1:8123")],
            &[(HOST, "127.0.0.1:8123"), (ORIGIN, "http://evil.example")],
        ] {
            assert!(refused(others), "{others:?}");
        }
    }
}
