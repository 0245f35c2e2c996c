import argparse

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


def neighbours(n, deg, seed):
    return torch.randint(0, n, (n, deg), generator=torch.Generator().manual_seed(seed))


class Sage(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.a = nn.Linear(2 * d, 32)
        self.b = nn.Linear(32, 3)

    def forward(self, x, nb):
        return self.b(F.relu(self.a(torch.cat([x, nb.mean(1)], 1))))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--fanout", type=int, default=4)
    args = ap.parse_args()
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    feats = torch.randn(900, 12, generator=torch.Generator().manual_seed(0))
    adj = neighbours(900 + 40, args.fanout, 5)[:900]
    label = feats[:, :3].argmax(1)
    net = DDP(Sage(12))
    opt = torch.optim.Adam(net.parameters(), lr=1e-2)
    mine = torch.arange(900)[rank::world]
    for step in range(90):
        ids = mine[torch.arange(step * 5, step * 5 + 5) % len(mine)]
        loss = F.cross_entropy(net(feats[ids], feats[adj[ids]]), label[ids])
        opt.zero_grad()
        loss.backward()
        opt.step()
        if rank == 0 and step % 10 == 0:
            print("step", step, round(loss.item(), 3), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
