"""Stands in for the object store of the cluster: busy at times, and one object is damaged."""
import gzip
import http.server
import io
import socketserver
import threading

import numpy as np


def blob(index):
    rng = np.random.default_rng(index)
    out = io.BytesIO()
    np.save(out, rng.standard_normal((120, 17)).astype(np.float32))
    return gzip.compress(out.getvalue())


class Handler(http.server.BaseHTTPRequestHandler):
    seen = {}

    def do_GET(self):
        index = int(self.path.strip("/").split(".")[0])
        tries = self.seen[index] = self.seen.get(index, 0) + 1
        if index % 3 == 1 and tries < 3:
            self.send_error(503, "slow down")
            return
        body = blob(index)
        if index == 7:
            body = body[: len(body) // 2]
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True


def serve():
    server = Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server
