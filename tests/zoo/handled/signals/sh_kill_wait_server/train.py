import json
import socket
import sys

import torch

model = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.05)
with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as sock:
    stream = sock.makefile("rw")
    for step in range(6):
        stream.write(f"{step}\n")
        stream.flush()
        x = torch.tensor(json.loads(stream.readline()))
        loss = model(x).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
print("6 steps", flush=True)
