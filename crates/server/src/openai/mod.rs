//! The OpenAI-compatible interface.

mod chat;
mod conversations;
mod history;
mod history_commands;
mod items;
mod marks;
mod models;
mod page;
mod relay;
mod reply;
mod request_message;
mod responses;
mod scope;
mod sends;
mod sse;
mod turn;
pub(crate) mod upstream;

pub(crate) use reply::Reply;
pub(crate) use responses::background::Background;

use crate::app::App;
use crate::idempotency::Tells;
use crate::problem::Problem;
use axum::Router;
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use axum::routing::{get, post};
use std::sync::Arc;

pub(crate) fn router() -> Router<Arc<App>> {
    Router::new()
        .route("/v1/models", get(models::list))
        .route("/v1/models/{model}", get(models::show))
        .route("/v1/chat/completions", post(chat::create))
        .route("/v1/responses", post(responses::create))
        .route("/v1/responses/{id}", get(responses::show).delete(responses::delete))
        .route("/v1/responses/{id}/cancel", post(responses::cancel))
        .route("/v1/responses/{id}/input_items", get(responses::input_items))
        .route("/v1/conversations", get(conversations::list).post(conversations::create))
        .route(
            "/v1/conversations/{id}",
            get(conversations::show).post(conversations::change).delete(conversations::delete),
        )
        .route("/v1/conversations/{id}/items", get(conversations::list_items).post(conversations::add_items))
        .route(
            "/v1/conversations/{id}/items/{item}",
            get(conversations::show_item).delete(conversations::delete_item),
        )
}

/// Gives errors in the shape that OpenAI's clients read.
pub(crate) async fn errors(request: Request, next: Next) -> Response {
    let path = request.uri().path().to_owned();
    in_their_shape(&path, next.run(request).await)
}

/// Gives an error of the OpenAI-compatible part in the shape that OpenAI's clients read.
pub(crate) fn in_their_shape(path: &str, response: Response) -> Response {
    match response.extensions().get::<Problem>().filter(|_| path.starts_with("/v1/")) {
        Some(problem) => {
            let mut shown = problem.for_openai();
            // Where the message is, is told with an error too.
            let ours = response.headers().iter().filter(|(name, _)| name.as_str().starts_with("x-segue-"));
            shown.headers_mut().extend(ours.map(|(name, value)| (name.clone(), value.clone())));
            // Those tell what was said, and who keeps the answer has to know it.
            if let Some(tells) = response.extensions().get::<Tells>() {
                shown.extensions_mut().insert(tells.clone());
            }
            shown
        }
        None => response,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::response::IntoResponse as _;
    use segue_core::entry::Seq;

    /// who keeps an error knows that its headers tell what was said.
    #[test]
    fn x17_an_error_in_their_shape_still_tells_of_its_scope() {
        let scope: segue_core::scope::Key = "s".parse().unwrap();
        let mut response = Problem::refused("no").into_response();
        response.headers_mut().insert("x-segue-notice", "a title".parse().unwrap());
        response.extensions_mut().insert(Tells::Scope(scope.clone(), Seq(7)));
        let shown = in_their_shape("/v1/chat/completions", response);
        assert!(shown.headers().contains_key("x-segue-notice"));
        let tells = shown.extensions().get::<Tells>();
        assert!(matches!(tells, Some(Tells::Scope(of, Seq(7))) if *of == scope), "{tells:?}");
    }
}
