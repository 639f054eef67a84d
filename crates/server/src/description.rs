//! The description of Segue's own interface: what the code says, and the rules that its types cannot say.

use segue_core::observed::Answer;
use segue_core::task::intent::MessageIntent;
use segue_engine::shapes::Shape;
use serde_json::{Map, Value, json};
use utoipa::openapi::OpenApi;

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

/// What a scope is: no white space, no control characters, no `#`.
pub(crate) const SCOPE: &str = r"^[^\s\x00-\x1f\x7f-\x9f#]+$";

/// A text that is not blank. Spelled out: what `\s` stands for differs between the languages that read this.
pub(crate) const SAYS_SOMETHING: &str =
    r"[^\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]";

/// A text of which something is left as a title: it has a character that is neither white space nor a control character.
const TITLE: &str = r"[^\x00-\x20\x7f-\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]";

/// Describes the interface as OpenAPI 3.1.
pub(crate) fn description(api: &OpenApi) -> String {
    let mut api = serde_json::to_value(api).unwrap_or_default();
    if let Some(Value::Object(paths)) = api.get_mut("paths") {
        for (path, item) in paths {
            let Value::Object(item) = item else { continue };
            for (method, operation) in item.iter_mut() {
                if let Value::Object(operation) = operation {
                    describe(path, method, operation);
                }
            }
        }
    }
    for (place, rule) in fields() {
        if let Some(Value::Object(field)) = api.pointer_mut(&format!("/components/schemas/{place}")) {
            field.extend(of(rule));
        }
    }
    // A call with both a name and a function is read as the nested one.
    if let Some(Value::Object(call)) = api.pointer_mut("/components/schemas/NewToolCall")
        && let Some(forms) = call.remove("oneOf")
    {
        call.insert("anyOf".to_owned(), forms);
    }
    for (schema, rule) in rules() {
        if let Some(Value::Object(fields)) = api.pointer_mut(&format!("/components/schemas/{schema}")) {
            fields.extend(rule);
        }
    }
    let mut text = serde_json::to_string_pretty(&api).unwrap_or_default();
    text.push('\n');
    text
}

fn describe(path: &str, method: &str, operation: &mut Map<String, Value>) {
    if method == "post" {
        let key = json!({
            "name": "Idempotency-Key", "in": "header", "required": false,
            "description": "The same key gives the same answer",
        });
        if let Value::Array(parameters) = operation.entry("parameters").or_insert_with(|| json!([])) {
            parameters.push(key);
        }
    }
    if let Some(Value::Array(parameters)) = operation.get_mut("parameters") {
        parameters.iter_mut().for_each(|parameter| constrain(path, parameter));
    }
    if let Some(Value::Object(responses)) = operation.get_mut("responses") {
        for (status, text) in PROBLEMS {
            let schema = json!({ "schema": { "$ref": "#/components/schemas/Problem" } });
            let problem = json!({ "description": text, "content": { "application/problem+json": schema } });
            responses.entry(status).or_insert(problem);
        }
    }
}

/// Says what a parameter looks like. A parameter that is left out is not there; it is never null.
fn constrain(path: &str, parameter: &mut Value) {
    let name = parameter.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
    let Value::Object(parameter) = parameter else { return };
    let schema = parameter.entry("schema").or_insert_with(|| json!({ "type": "string" }));
    let Value::Object(schema) = schema else { return };
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|kind| kind != "null");
        if let [one] = types.as_slice() {
            let one = one.clone();
            schema.insert("type".to_owned(), one);
        }
    }
    if let Some(Value::Array(kinds)) = schema.get("oneOf").cloned()
        && let Some(Value::Object(kind)) = kinds.into_iter().find(|kind| kind.get("$ref").is_some())
    {
        *schema = kind;
    }
    let more = match (name.as_str(), path) {
        ("scope", _) => json!({ "pattern": SCOPE }),
        ("n", _) => json!({ "minimum": 1, "maximum": u32::MAX }),
        ("seq", _) => json!({ "minimum": 1, "maximum": i64::MAX }),
        ("op", _) => json!({ "enum": segue_engine::tasks::op::OPS }),
        ("shape", _) => json!({ "enum": Shape::ALL.map(Shape::name) }),
        ("Idempotency-Key", _) => json!({ "pattern": "^[!-~]([ -~]{0,253}[!-~])?$" }),
        ("Last-Event-ID", "/api/v1/events") => json!({ "pattern": r"^([0-9]{1,18}(\.[0-9]{1,18})?)?$" }),
        ("Last-Event-ID", _) => json!({ "pattern": "^([0-9]{1,18})?$" }),
        ("cursor", "/api/v1/scopes") => json!({ "pattern": "^([0-9a-f]{2})+$" }),
        ("cursor", _) => json!({ "pattern": "^[0-9]{1,18}$" }),
        _ => return,
    };
    if let Value::Object(more) = more {
        schema.extend(more);
    }
}

fn of(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

/// Rules for single fields: what the code refuses, and their types allow.
fn fields() -> Vec<(&'static str, Value)> {
    let optional = |names: Vec<&str>| {
        let names: Vec<Option<&str>> = names.into_iter().map(Some).chain([None]).collect();
        json!({ "enum": names })
    };
    let intents: Vec<&str> = MessageIntent::ALL.iter().map(|intent| intent.name()).collect();
    let shapes: Vec<&str> = Shape::ALL.iter().map(|shape| shape.name()).collect();
    let answers: Vec<&str> = Answer::ALL.iter().map(|answer| answer.name()).collect();
    let (scope, said) = (json!({ "pattern": SCOPE }), json!({ "pattern": SAYS_SOMETHING }));
    let place = json!({ "maximum": i64::MAX });
    vec![
        ("NewMessage/properties/scope", scope.clone()),
        ("NewMessage/properties/intent", optional(intents)),
        ("NewReply/properties/scope", scope.clone()),
        ("NewToolResult/properties/scope", scope),
        ("ContextQuery/properties/shape", optional(shapes)),
        ("NewAnswer/properties/answer", json!({ "enum": answers })),
        ("FirstMessage/properties/text", said.clone()),
        ("NewRecall/properties/query", said.clone()),
        ("NewRecall/properties/why", said),
        ("Change/properties/title", json!({ "pattern": TITLE })),
        ("ForkAt/properties/at", place.clone()),
        ("SplitAt/properties/at", place),
    ]
}

/// Rules between the fields of a schema.
fn rules() -> Vec<(&'static str, Map<String, Value>)> {
    let text = json!({ "type": "string" });
    let said = json!({ "type": "string", "pattern": SAYS_SOMETHING });
    let some = json!({ "type": "array", "minItems": 1 });
    let needs = |name: &str, schema: &Value| json!({ "required": [name], "properties": { name: schema } });
    let only = |name: &str, schema: &Value, other: &str| json!({ "required": [name], "properties": { name: schema, other: { "type": "null" } } });
    vec![
        (
            "NewMessage",
            of(json!({ "allOf": [
                { "oneOf": [only("scope", &text, "address"), only("address", &json!({ "type": "object" }), "scope")] },
                { "anyOf": [needs("text", &said), needs("attachments", &some)] },
            ] })),
        ),
        ("NewReply", of(json!({ "anyOf": [needs("text", &said), needs("tool_calls", &some)] }))),
    ]
}
