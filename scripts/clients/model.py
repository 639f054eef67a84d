"""A scripted model behind OpenAI's two interfaces, for tests with real clients.

What it answers follows from the last message alone:
  a result of a tool          -> "The tool said: RESULT"
  "use TOOL {...}"            -> a call of TOOL with these arguments
  "say TEXT"                  -> TEXT
  "slowly TEXT"               -> TEXT, one word every 50 ms
  "fail STATUS"               -> an error with that status
  anything else               -> "I heard N messages. The last one: TEXT"

GET /log gives the requests so far, one JSON object each.
"""

import json
import re
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

LOG = []
LOCK = threading.Lock()
COUNT = [0]


def text_of(content):
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", "") for part in content or [] if isinstance(part, dict))


def reply_to(messages, tools, tag):
    """Returns text and calls: (text, [(id, name, arguments)])."""
    last = messages[-1] if messages else {}
    text = text_of(last.get("content"))
    if last.get("role") == "tool":
        return "The tool said: " + text.strip(), []
    use = re.search(r"^use (\S+) (\{.*\})\s*$", text, re.S | re.M)
    if use and use.group(1) in tools:
        return "", [(f"call_{tag}", use.group(1), use.group(2))]
    say = re.match(r"\s*(?:say|slowly) (.*)", text, re.S)
    if say:
        return say.group(1).strip(), []
    return f"I heard {len(messages)} messages. The last one: {text.strip()[:200]}", []


def chat_messages(items, instructions):
    """Reads the items of a response as messages of a chat."""
    messages = [{"role": "system", "content": instructions}] if instructions else []
    if isinstance(items, str):
        items = [{"type": "message", "role": "user", "content": items}]
    for item in items or []:
        kind = item.get("type", "message")
        if kind == "message":
            messages.append({"role": item["role"], "content": text_of(item.get("content"))})
        elif kind.endswith("_output"):
            messages.append({"role": "tool", "content": text_of(item.get("output"))})
        elif kind.endswith("_call"):
            messages.append({"role": "assistant", "content": ""})
    return messages


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, value):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        if self.path == "/log":
            with LOCK:
                return self.answer(200, list(LOG))
        self.answer(404, {"error": {"message": "not here"}})

    def events(self, pieces, pause=0.0):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        for piece in pieces:
            self.wfile.write(piece.encode())
            self.wfile.flush()
            time.sleep(pause)
        self.close_connection = True

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        fields = json.loads(body)
        api = self.path.rsplit("/v1/", 1)[-1]
        with LOCK:
            COUNT[0] += 1
            tag = f"{COUNT[0]:04d}"
            LOG.append({"api": api, "body": fields, "at": time.time()})
        if api == "chat/completions":
            messages = fields["messages"]
            tools = [tool["function"]["name"] for tool in fields.get("tools", [])]
        elif api == "responses":
            messages = chat_messages(fields.get("input"), fields.get("instructions"))
            tools = [tool.get("name", tool["type"]) for tool in fields.get("tools", [])]
        else:
            return self.answer(404, {"error": {"message": "not here"}})
        last = text_of(messages[-1].get("content")) if messages else ""
        fail = re.match(r"\s*fail (\d+)", last)
        if fail:
            error = {"message": "scripted failure", "type": "scripted", "code": "scripted", "param": None}
            return self.answer(int(fail.group(1)), {"error": error})
        text, calls = reply_to(messages, tools, tag)
        pause = 0.05 if last.startswith("slowly ") else 0.0
        if not fields.get("stream"):
            time.sleep(min(pause * len(text.split()), 10.0))
        usage = (sum(len(text_of(m.get("content"))) for m in messages) // 4 + 1, len(text) // 4 + 1)
        made = self.chat if api == "chat/completions" else self.response
        try:
            made(fields, tag, text, calls, usage, pause)
        except (BrokenPipeError, ConnectionResetError):
            with LOCK:
                LOG.append({"api": "hung up", "body": {"tag": tag}, "at": time.time()})

    def chat(self, fields, tag, text, calls, usage, pause):
        head = {"id": f"chatcmpl-{tag}", "created": int(time.time()), "model": fields["model"]}
        tokens = {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)}
        finish = "tool_calls" if calls else "stop"
        listed = [
            {"id": i, "type": "function", "function": {"name": n, "arguments": a}} for i, n, a in calls
        ]
        if not fields.get("stream"):
            message = {"role": "assistant", "content": text or None, "refusal": None}
            if listed:
                message["tool_calls"] = listed
            choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": finish}
            return self.answer(
                200, {**head, "object": "chat.completion", "choices": [choice], "usage": tokens}
            )

        def piece(delta, finish=None):
            choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
            value = {**head, "object": "chat.completion.chunk", "choices": [choice]}
            return f"data: {json.dumps(value)}\n\n"

        pieces = [piece({"role": "assistant", "content": ""})]
        pieces += [piece({"content": word}) for word in re.findall(r"\S+\s*|\s+", text)]
        for at, call in enumerate(listed):
            first = {**call, "index": at, "function": {**call["function"], "arguments": ""}}
            pieces.append(piece({"tool_calls": [first]}))
            arguments = call["function"]["arguments"]
            for cut in range(0, len(arguments), 7):
                more = {"index": at, "function": {"arguments": arguments[cut : cut + 7]}}
                pieces.append(piece({"tool_calls": [more]}))
        pieces.append(piece({}, finish))
        if (fields.get("stream_options") or {}).get("include_usage"):
            value = {**head, "object": "chat.completion.chunk", "choices": [], "usage": tokens}
            pieces.append(f"data: {json.dumps(value)}\n\n")
        pieces.append("data: [DONE]\n\n")
        self.events(pieces, pause)

    def response(self, fields, tag, text, calls, usage, pause):
        output = []
        if text:
            part = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
            output.append(
                {"type": "message", "id": f"msg_{tag}", "status": "completed", "role": "assistant",
                 "content": [part]}
            )
        custom = {tool.get("name") for tool in fields.get("tools", []) if tool["type"] == "custom"}
        for at, (call, name, arguments) in enumerate(calls):
            item = {"id": f"fc_{tag}_{at}", "status": "completed", "call_id": call, "name": name}
            if name in custom:
                item |= {"type": "custom_tool_call", "input": json.loads(arguments)["input"]}
            else:
                item |= {"type": "function_call", "arguments": arguments}
            output.append(item)
        tokens = {
            "input_tokens": usage[0], "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": usage[1], "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": sum(usage),
        }
        head = {
            "id": f"resp_up_{tag}", "object": "response", "created_at": int(time.time()), "error": None,
            "incomplete_details": None, "instructions": None, "metadata": {}, "model": fields["model"],
            "parallel_tool_calls": True, "temperature": 1.0, "tool_choice": "auto", "tools": [], "top_p": 1.0,
        }
        whole = {**head, "status": "completed", "output": output, "usage": tokens}
        if not fields.get("stream"):
            return self.answer(200, whole)
        number = [0]

        def event(name, **data):
            data = {"type": name, "sequence_number": number[0], **data}
            number[0] += 1
            return f"event: {name}\ndata: {json.dumps(data)}\n\n"

        begun = {**head, "status": "in_progress", "output": [], "usage": None}
        pieces = [event("response.created", response=begun), event("response.in_progress", response=begun)]
        for at, item in enumerate(output):
            pieces.append(event("response.output_item.added", output_index=at,
                                item={**item, "status": "in_progress", **({"content": []} if "content" in item else {})}))
            if item["type"] == "message":
                where = {"item_id": item["id"], "output_index": at, "content_index": 0}
                empty = {**item["content"][0], "text": ""}
                pieces.append(event("response.content_part.added", **where, part=empty))
                for word in re.findall(r"\S+\s*|\s+", text):
                    pieces.append(event("response.output_text.delta", **where, delta=word, logprobs=[]))
                pieces.append(event("response.output_text.done", **where, text=text, logprobs=[]))
                pieces.append(event("response.content_part.done", **where, part=item["content"][0]))
            pieces.append(event("response.output_item.done", output_index=at, item=item))
        pieces.append(event("response.completed", response=whole))
        self.events(pieces, pause)


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256


if __name__ == "__main__":
    server = Server(("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 0), Handler)
    print(f"listening on http://127.0.0.1:{server.server_address[1]}", flush=True)
    server.serve_forever()
