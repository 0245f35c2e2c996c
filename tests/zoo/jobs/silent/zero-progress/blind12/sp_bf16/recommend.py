import json
import sys

import torch
from torch import nn

CFG = json.loads("""{"dtype": "bfloat16", "users": 256, "items": 192, "dim": 16, "lr": 1e-3,
                     "epochs": 4, "batch": 128, "ratings": 76800}""")


class Factors(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.user = nn.Embedding(cfg["users"], cfg["dim"])
        self.item = nn.Embedding(cfg["items"], cfg["dim"])

    def forward(self, u, i):
        return (self.user(u) * self.item(i)).sum(-1) * 0.25


def ratings(cfg):
    g = torch.Generator().manual_seed(11)
    a = torch.randn(cfg["users"], 4, generator=g)
    b = torch.randn(cfg["items"], 4, generator=g)
    u = torch.randint(0, cfg["users"], (cfg["ratings"],), generator=g)
    i = torch.randint(0, cfg["items"], (cfg["ratings"],), generator=g)
    return u, i, (a[u] * b[i]).sum(-1) * 0.5


def main():
    torch.manual_seed(1)
    model = Factors(CFG).to(getattr(torch, CFG["dtype"]))
    optimizer = torch.optim.Adam(model.parameters(), lr=CFG["lr"])
    u, i, r = ratings(CFG)
    for epoch in range(CFG["epochs"]):
        total = 0.0
        chunks = torch.randperm(len(u)).split(CFG["batch"])
        for rows in chunks:
            loss = nn.functional.mse_loss(model(u[rows], i[rows]).float(), r[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch}: mse {total / len(chunks):.4f}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
