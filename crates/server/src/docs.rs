//! The description of Segue's own interface, and the pages to browse it. Nothing is loaded from elsewhere.

use crate::app::App;
use crate::description::description;
use axum::Router;
use axum::extract::Path;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use std::sync::Arc;
use utoipa::openapi::OpenApi;
use utoipa_swagger_ui::Config;

/// Where the description is.
const DESCRIPTION: &str = "/api/openapi.json";

pub(crate) fn router(api: &OpenApi) -> Router<Arc<App>> {
    let text: Arc<str> = description(api).into();
    let config = Arc::new(Config::from(DESCRIPTION));
    let page = move |path: String| {
        let config = Arc::clone(&config);
        async move { page(&path, config) }
    };
    let index = page.clone();
    Router::new()
        .route(
            DESCRIPTION,
            get(move || async move { ([(CONTENT_TYPE, "application/json")], text.to_string()) }),
        )
        .route("/api/docs", get(|| async { Redirect::permanent("/api/docs/") }))
        .route("/api/docs/", get(move || index(String::new())))
        .route("/api/docs/{*path}", get(move |Path(path): Path<String>| page(path)))
}

fn page(path: &str, config: Arc<Config<'static>>) -> Response {
    match utoipa_swagger_ui::serve(path, config) {
        Ok(Some(file)) => {
            (StatusCode::OK, [(CONTENT_TYPE, file.content_type)], file.bytes.to_vec()).into_response()
        }
        Ok(None) | Err(_) => {
            crate::problem::Problem::not_found(format!("there is no page {path:?}")).into_response()
        }
    }
}
