import json
import os
import socketserver
import sys

import torch


class Batches(socketserver.StreamRequestHandler):
    def handle(self):
        for line in self.rfile:
            gen = torch.Generator().manual_seed(int(line))
            batch = torch.randn(4, 3, generator=gen)
            self.wfile.write(json.dumps(batch.tolist()).encode() + b"\n")


with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Batches) as server:
    with open("port.tmp", "w") as f:
        f.write(str(server.server_address[1]))
    os.replace("port.tmp", sys.argv[1])
    server.serve_forever()
