"""A small page with the losses, served beside the training."""
import http.server
import json
import sys


class Panel(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = json.dumps({"log": open(sys.argv[1]).read().split()}).encode()
        self.send_response(200)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


if __name__ == "__main__":
    http.server.HTTPServer(("127.0.0.1", 0), Panel).serve_forever()
