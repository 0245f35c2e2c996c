import argparse
import json
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from cells import STAGES, Binner, counts


class CellEncoder(nn.Module):
    def __init__(self, genes, bins, heads, d=16):
        super().__init__()
        self.v = nn.Embedding(bins, d)
        self.g = nn.Parameter(torch.zeros(genes, d))
        self.t = nn.TransformerEncoderLayer(d, heads, 32, dropout=0.0, batch_first=True)
        self.o = nn.Linear(d, 6)

    def forward(self, x):
        return self.o(self.t(self.v(x) + self.g).mean(1))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--stage", choices=STAGES, required=True)
    ap.add_argument("--out", required=True)
    a = ap.parse_args()
    s = STAGES[a.stage]
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    raw, kind = counts(rank, s["genes"])
    if a.stage == "main" and rank == 1:
        raw[700, 3] = 812
    binner = Binner(raw)
    top = torch.tensor(binner.top)
    dist.all_reduce(top, dist.ReduceOp.MAX)
    net = DDP(CellEncoder(s["genes"], int(top) + 1, s["heads"]))
    opt = torch.optim.AdamW(net.parameters(), lr=s["lr"])
    order = torch.arange(len(raw)).split(16)
    for k in range(s["steps"]):
        i = order[k % len(order)]
        loss = nn.functional.cross_entropy(net(binner(raw[i])), kind[i])
        opt.zero_grad()
        loss.backward()
        opt.step()
    if rank == 0:
        with open(os.path.join(a.out, a.stage + ".json"), "w") as f:
            json.dump({"loss": loss.item(), "steps": s["steps"]}, f)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
