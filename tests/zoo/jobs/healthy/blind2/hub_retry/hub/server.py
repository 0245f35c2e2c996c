"""A local mirror that is as unreliable as the real one."""
import hashlib
import http.server
import threading

import numpy as np


class Handler(http.server.BaseHTTPRequestHandler):
    answers = {}

    def do_GET(self):
        count = self.answers.get(self.path, 0)
        self.answers[self.path] = count + 1
        payload = np.random.default_rng(len(self.path)).normal(size=(128, 9)).astype("float32").tobytes()
        if count == 0:
            self.send_error(503)
            return
        self.send_response(200)
        self.send_header("X-Digest", hashlib.sha256(payload).hexdigest())
        self.end_headers()
        self.wfile.write(payload[: len(payload) // 2] if count == 1 else payload)

    def log_message(self, *args):
        pass


def start():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server
