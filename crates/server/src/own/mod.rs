//! Segue's own interface: one file per resource. Handlers translate; the engine does.

mod context;
mod decisions;
mod id;
mod live;
mod messages;
mod moves;
mod proof;
mod recall;
mod replies;
mod scopes;
mod sessions;
mod tasks;
mod transcript;
mod turns;
mod wire;

pub(crate) use context::messages;
pub(crate) use id::Id;
pub(crate) use messages::NewAddress;
pub(crate) use scopes::Begun;
pub(crate) use transcript::Order;
pub(crate) use wire::question;

use crate::app::App;
use crate::problem::Problem;
use segue_engine::Engine;
use std::sync::Arc;
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Segue",
        description = "The session engine for AI agents. Every message is decided on, kept, and answered for.",
        license(name = "Apache-2.0", identifier = "Apache-2.0"),
    ),
    components(schemas(Problem)),
    modifiers(&Security),
)]
struct Description;

struct Security;

impl utoipa::Modify for Security {
    fn modify(&self, api: &mut utoipa::openapi::OpenApi) {
        use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme};
        let bearer = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).description(Some(
            "A token of `segue token add`. Not needed on loopback as long as there is none.",
        ));
        let components = api.components.get_or_insert_default();
        components.add_security_scheme("token", SecurityScheme::Http(bearer.build()));
        let none = SecurityRequirement::default();
        api.security = Some(vec![SecurityRequirement::new("token", Vec::<String>::new()), none]);
    }
}

/// All operations, with their description.
pub(crate) fn router() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::with_openapi(Description::openapi())
        .routes(routes!(messages::send))
        .routes(routes!(replies::reply))
        .routes(routes!(replies::tool_result))
        .routes(routes!(scopes::list))
        .routes(routes!(sessions::list, sessions::begin))
        .routes(routes!(sessions::show, sessions::change, sessions::delete))
        .routes(routes!(moves::resume))
        .routes(routes!(moves::fork))
        .routes(routes!(moves::restore))
        .routes(routes!(moves::undo))
        .routes(routes!(moves::redo))
        .routes(routes!(moves::split))
        .routes(routes!(moves::answer))
        .routes(routes!(transcript::list))
        .routes(routes!(transcript::erase))
        .routes(routes!(context::show))
        .routes(routes!(recall::recall))
        .routes(routes!(decisions::list))
        .routes(routes!(tasks::act))
        .routes(routes!(live::of_scope))
        .routes(routes!(live::of_all))
        .routes(routes!(live::interrupts))
        .routes(routes!(proof::verify))
        .routes(routes!(proof::head))
}

/// Tells whether the store answers.
pub(crate) async fn answers(engine: &Engine) -> Result<(), Problem> {
    engine.store().scopes(&segue_store::Page::first(1)).await?;
    Ok(())
}
