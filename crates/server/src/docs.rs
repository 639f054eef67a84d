//! The description of Segue's own interface, and the pages to browse it. Nothing is loaded from elsewhere.

use crate::app::App;
use crate::description::description;
use crate::problem::Problem;
use axum::Router;
use axum::extract::Path;
use axum::http::HeaderMap;
use axum::http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, VARY};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use flate2::read::GzDecoder;
use std::io::Read;
use std::sync::Arc;
use utoipa::openapi::OpenApi;
use utoipa_swagger_ui::Config;

/// Where the description is.
const DESCRIPTION: &str = "/api/openapi.json";

pub(crate) fn router(api: &OpenApi) -> Router<Arc<App>> {
    let text: Arc<str> = description(api).into();
    let config = Arc::new(Config::from(DESCRIPTION));
    let page = move |path: String, headers: &HeaderMap| {
        let accepts = headers.get(ACCEPT_ENCODING).and_then(|value| value.to_str().ok());
        page(&path, Arc::clone(&config), Packing::accepted(accepts.unwrap_or_default()))
    };
    let index = page.clone();
    Router::new()
        .route(
            DESCRIPTION,
            get(move || async move { ([(CONTENT_TYPE, "application/json")], text.to_string()) }),
        )
        .route("/api/docs", get(|| async { Redirect::permanent("/api/docs/") }))
        .route("/api/docs/", get(async move |headers: HeaderMap| index(String::new(), &headers)))
        .route(
            "/api/docs/{*path}",
            get(async move |Path(path): Path<String>, headers: HeaderMap| page(path, &headers)),
        )
}

/// How a page is sent. They are packed in the program, which makes it 3 MB smaller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Packing {
    Gzip,
    Plain,
}

impl Packing {
    /// Reads `Accept-Encoding`.
    fn accepted(header: &str) -> Self {
        let takes = |part: &str| {
            let (name, weight) = part.split_once(';').unwrap_or((part, ""));
            name.trim().eq_ignore_ascii_case("gzip") && weight.trim().trim_end_matches(['0', '.']) != "q="
        };
        if header.split(',').any(takes) { Self::Gzip } else { Self::Plain }
    }
}

fn page(path: &str, config: Arc<Config<'static>>, packing: Packing) -> Response {
    let missing = || Problem::not_found(format!("there is no page {path:?}")).into_response();
    let Ok(Some(file)) = utoipa_swagger_ui::serve(path, config) else { return missing() };
    let kind = (CONTENT_TYPE, file.content_type);
    if !file.gzpipped {
        return ([kind], file.bytes.into_owned()).into_response();
    }
    match packing {
        Packing::Gzip => {
            let headers = [kind, (CONTENT_ENCODING, "gzip".to_owned()), (VARY, "accept-encoding".to_owned())];
            (headers, file.bytes.into_owned()).into_response()
        }
        Packing::Plain => {
            let mut plain = Vec::new();
            match GzDecoder::new(&*file.bytes).read_to_end(&mut plain) {
                Ok(_) => ([kind, (VARY, "accept-encoding".to_owned())], plain).into_response(),
                Err(_) => missing(),
            }
        }
    }
}
