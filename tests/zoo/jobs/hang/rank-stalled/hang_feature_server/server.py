"""Serves rows of features, one line for each request."""
import os
import socketserver
import sys


class Handler(socketserver.StreamRequestHandler):
    def handle(self):
        for line in self.rfile:
            key = int(line)
            if key == 21:
                continue  # unknown key
            self.wfile.write((" ".join(str((key * k) % 7) for k in range(1, 9)) + "\n").encode())


with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
    server.daemon_threads = True
    with open(sys.argv[1] + ".part", "w") as f:
        f.write(str(server.server_address[1]))
    os.replace(sys.argv[1] + ".part", sys.argv[1])
    server.serve_forever()
