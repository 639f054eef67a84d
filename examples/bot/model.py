"""A scripted model behind OpenAI's chat completions: it says how many messages it was given, and repeats the last one. No real
model is needed to see what Segue does. Python alone is enough:

    python3 model.py 8080
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        given = asked["messages"]
        text = f"I was given {len(given)} message{'s' * (len(given) > 1)}. You said: {given[-1]['content']}"
        self.send_response(200)
        if asked.get("stream"):
            self.send_header("content-type", "text/event-stream")
            self.end_headers()
            for word in text.split(" "):
                piece = {"choices": [{"index": 0, "delta": {"content": word + " "}}]}
                self.wfile.write(f"data: {json.dumps(piece)}\n\n".encode())
            self.wfile.write(b"data: [DONE]\n\n")
        else:
            body = {"choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}]}
            self.send_header("content-type", "application/json")
            self.end_headers()
            self.wfile.write(json.dumps(body).encode())


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 8080), Handler)
    print(f"listening on http://127.0.0.1:{server.server_address[1]}", flush=True)
    server.serve_forever()
