import http.server
import json
import os
import threading


class Handler(http.server.BaseHTTPRequestHandler):
    state = {"step": 0}

    def do_GET(self):
        body = json.dumps(self.state).encode()
        self.send_response(200)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


def serve():
    port = int(os.environ.get("STATUS_PORT", os.environ["MASTER_PORT"]))
    server = http.server.ThreadingHTTPServer(("", port), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server
