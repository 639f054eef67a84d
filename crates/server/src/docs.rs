//! The description of Segue's own interface, and the pages to browse it. Nothing is loaded from elsewhere.

use crate::app::App;
use axum::Router;
use axum::extract::Path;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use std::sync::Arc;
use utoipa::openapi::{ContentBuilder, OpenApi, Ref, RefOr, ResponseBuilder};
use utoipa_swagger_ui::Config;

/// Where the description is.
const DESCRIPTION: &str = "/api/openapi.json";

/// What every operation may answer besides.
const PROBLEMS: [(&str, &str); 10] = [
    ("400", "The request cannot be read"),
    ("401", "There is no token, or a bad one"),
    ("403", "Not with this token"),
    ("404", "Not there, or not to be known of with this token"),
    ("409", "Refused, with what is allowed"),
    ("413", "Too large"),
    ("415", "The body is not JSON"),
    ("422", "Well-formed, and wrong"),
    ("429", "Too many requests; Retry-After says when to come back"),
    ("503", "The store does not answer"),
];

/// Writes the description with the problems that every operation may answer.
pub(crate) fn description(api: &OpenApi) -> String {
    let mut api = api.clone();
    for item in api.paths.paths.values_mut() {
        let operations = [&mut item.get, &mut item.post, &mut item.put, &mut item.patch, &mut item.delete];
        for operation in operations.into_iter().flatten() {
            for (status, text) in PROBLEMS {
                let schema = RefOr::Ref(Ref::from_schema_name("Problem"));
                let content = ContentBuilder::new().schema(Some(schema)).build();
                let response =
                    ResponseBuilder::new().description(text).content("application/problem+json", content);
                let responses = &mut operation.responses.responses;
                responses.entry(status.to_owned()).or_insert_with(|| response.build().into());
            }
        }
    }
    let mut text = api.to_pretty_json().unwrap_or_default();
    text.push('\n');
    text
}

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
