"""What the model's port answers until the model's server takes it: 503 and why, in llama.cpp's own words.

Both bind the port with SO_REUSEPORT, so that it answers all the time, also while one takes over from the other.
"""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

LOADING = "unavailable_error"
MISSING = "missing_model_error"


class Answer(BaseHTTPRequestHandler):
    server: "Placeholder"

    def answer(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        body = json.dumps({"error": {"code": 503, "message": self.server.message, "type": self.server.kind}}).encode()
        self.send_response(503)
        self.send_header("Content-Type", "application/json; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_GET = do_HEAD = do_POST = do_OPTIONS = answer

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: it answers probes several times a second."""


class Placeholder(ThreadingHTTPServer):
    allow_reuse_port = True

    def __init__(self, port: int, message: str) -> None:
        super().__init__(("127.0.0.1", port), Answer)
        self.message = message
        self.kind = LOADING
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    @property
    def port(self) -> int:
        return self.server_address[1]

    def close(self) -> None:
        self.shutdown()
        self.server_close()
