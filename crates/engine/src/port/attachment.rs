//! Attachments of Claude Code: files that were mentioned, words that were typed while the agent worked, reminders.

use super::blocks::{Content, text};
use segue_core::message::Role;
use serde_json::Value;

/// Reads an attachment as a message, or says under which reason it is left out.
pub(super) fn read(attachment: &Value) -> Result<(Role, String), String> {
    let kind = text(attachment, "type").unwrap_or("unknown");
    let left_out = || format!("attachment: {kind}");
    match kind {
        // A person's words that waited until the agent was ready.
        "queued_command" => {
            let said = Content::of(attachment.get("prompt").or(attachment.get("content"))).text();
            if said.trim().is_empty() { Err(left_out()) } else { Ok((Role::User, said)) }
        }
        "file"
        | "new_file"
        | "directory"
        | "selected_lines_in_ide"
        | "edited_text_file"
        | "image"
        | "pdf"
        | "compact_file_reference"
        | "pdf_reference"
        | "mcp_resource"
        | "already_read_file" => {
            let name = ["displayPath", "filename", "path", "uri", "name"];
            let name = name.iter().find_map(|field| text(attachment, field)).unwrap_or(kind);
            let body = body(attachment);
            let head = format!("[attached {}: {name}]", kind.replace('_', " "));
            Ok((Role::System, if body.is_empty() { head } else { format!("{head}\n{body}") }))
        }
        _ => Err(left_out()),
    }
}

/// What an attached file says: a text, blocks, or an object around one of them.
fn body(attachment: &Value) -> String {
    let content = attachment.get("content").or(attachment.get("snippet")).unwrap_or(&Value::Null);
    let file = content.get("file").unwrap_or(content);
    let said = match file.get("content") {
        Some(inner) => Content::of(Some(inner)).text(),
        None => Content::of(Some(file)).text(),
    };
    said.trim_end().to_owned()
}
