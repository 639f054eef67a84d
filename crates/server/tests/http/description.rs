//! The description of the interface is the committed one, and can be browsed without a network.

use crate::harness::World;
use segue_server::Server;
use std::path::Path;

#[test]
fn the_committed_description_is_the_one_of_the_code() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/openapi.json");
    let made = Server::description();
    if std::env::var_os("SEGUE_WRITE_OPENAPI").is_some() {
        std::fs::write(&path, &made).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == made,
        "docs/openapi.json is old: SEGUE_WRITE_OPENAPI=1 cargo test -p segue-server description"
    );
    assert!(made.contains("\"openapi\": \"3.1"), "OpenAPI 3.1");
}

#[tokio::test]
async fn the_description_can_be_browsed() {
    let world = World::new().await;
    assert_eq!(world.get("/api/openapi.json").await.text, Server::description());
    let page = world.get("/api/docs/").await;
    assert_eq!(page.status, 200);
    for file in ["swagger-ui-bundle.js", "swagger-ui.css", "swagger-initializer.js"] {
        assert_eq!(world.get(&format!("/api/docs/{file}")).await.status, 200, "{file}");
    }
    assert!(!page.text.contains("https://"), "nothing is loaded from elsewhere");
    // The pages are packed in the program, and sent so to who takes them so.
    let file = "/api/docs/swagger-ui-bundle.js";
    let plain = world.get(file).await;
    assert_eq!(plain.header("content-encoding"), None);
    assert!(plain.text.contains("SwaggerUIBundle"));
    let ask = async |accepted| world.call("GET", file, None, &[("accept-encoding", accepted)]).await;
    let packed = ask("br, gzip;q=0.8").await;
    assert_eq!(packed.header("content-encoding"), Some("gzip"));
    assert!(packed.header("content-length").unwrap().parse::<usize>().unwrap() < plain.text.len() / 2);
    assert_eq!(ask("gzip;q=0").await.text, plain.text);
}
