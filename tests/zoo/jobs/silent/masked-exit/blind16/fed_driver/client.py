import json
import os
import sys

import torch
from torch import nn


def main():
    cid = int(sys.argv[1])
    out = sys.argv[2]
    torch.manual_seed(cid)
    net = nn.Linear(10, 2)
    if os.path.exists("server.pt"):
        net.load_state_dict(torch.load("server.pt"))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    sizes = json.load(open("sizes.json"))
    for step in range(60):
        x = torch.randn(sizes[str(cid)], 10)
        loss = nn.functional.cross_entropy(net(x), (x[:, 0] > 0).long())
        opt.zero_grad()
        loss.backward()
        opt.step()
    torch.save(net.state_dict(), out)
    print("client", cid, "loss", round(loss.item(), 4), flush=True)


if __name__ == "__main__":
    main()
