//! The models that can be asked.

use crate::app::App;
use crate::auth::Caller;
use crate::body::At;
use crate::problem::Problem;
use axum::Json;
use axum::extract::State;
use serde_json::{Value, json};
use std::sync::Arc;

fn model(name: &str) -> Value {
    json!({ "id": name, "object": "model", "created": 0, "owned_by": "segue" })
}

/// Lists the models of the configuration.
pub(crate) async fn list(State(app): State<Arc<App>>, _caller: Caller) -> Json<Value> {
    let models: Vec<Value> = app.upstreams().names().map(|name| model(name)).collect();
    Json(json!({ "object": "list", "data": models }))
}

/// Shows a model.
pub(crate) async fn show(
    State(app): State<Arc<App>>,
    _caller: Caller,
    At(name): At<String>,
) -> Result<Json<Value>, Problem> {
    let upstream = app.upstreams().find(Some(&name))?;
    Ok(Json(model(&upstream.name)))
}
