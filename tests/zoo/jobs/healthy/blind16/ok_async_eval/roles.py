import os
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


def net_of():
    return nn.Sequential(nn.Linear(24, 64), nn.GELU(), nn.Dropout(0.1), nn.Linear(64, 5))


def sample(g, n):
    x = torch.randn(n, 24, generator=g)
    return x, x[:, :5].argmax(1)


class Learner:
    def __init__(self, group, cfg):
        self.group, self.cfg = group, cfg
        torch.manual_seed(0)
        self.net = DDP(net_of(), process_group=group)
        self.opt = torch.optim.AdamW(self.net.parameters(), lr=2e-3)
        self.g = torch.Generator().manual_seed(dist.get_rank())
        self.dropped = 0

    def usable(self, loss):
        bad = torch.tensor(float(not torch.isfinite(loss)))
        dist.all_reduce(bad, dist.ReduceOp.MAX, group=self.group)
        return bad.item() == 0

    def run(self):
        for k in range(1, self.cfg["steps"] + 1):
            x, y = sample(self.g, 64)
            if k % 97 == 0 and dist.get_rank() == 1:
                x[3, 2] = float("inf")
            loss = nn.functional.cross_entropy(self.net(x), y)
            if not self.usable(loss):
                self.dropped += 1
                continue
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            if dist.get_rank() == 0 and k % self.cfg["publish"] == 0:
                torch.save(self.net.module.state_dict(), "pub.tmp")
                os.replace("pub.tmp", f"pub_{k}.pt")
        print(f"[{dist.get_rank()}] dropped {self.dropped}", flush=True)


class Judge:
    def __init__(self, cfg):
        self.cfg = cfg
        self.net = net_of().eval()

    @torch.no_grad()
    def run(self):
        x, y = sample(torch.Generator().manual_seed(99), 4000)
        want = range(self.cfg["publish"], self.cfg["steps"] + 1, self.cfg["publish"])
        for k in want:
            while not os.path.exists(f"pub_{k}.pt"):
                time.sleep(0.2)
            self.net.load_state_dict(torch.load(f"pub_{k}.pt"))
            print(f"judge: {k} acc {(self.net(x).argmax(1) == y).float().mean():.3f}", flush=True)
