//! The files of the page, which `web/check.sh` makes.

use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;

/// The page itself.
pub(super) async fn html() -> impl IntoResponse {
    ([(CONTENT_TYPE, "text/html; charset=utf-8")], include_str!("../../../web/dist/serve.html"))
}

/// Its script.
pub(super) async fn script() -> impl IntoResponse {
    ([(CONTENT_TYPE, "text/javascript; charset=utf-8")], include_str!("../../../web/dist/serve.js"))
}

/// Its style.
pub(super) async fn style() -> impl IntoResponse {
    ([(CONTENT_TYPE, "text/css; charset=utf-8")], include_str!("../../../web/dist/serve.css"))
}
