import itertools
import json
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

HERE = Path(__file__).parent


def stream(batch_size):
    g = torch.Generator().manual_seed(dist.get_rank())
    while True:
        x = torch.randn(batch_size, 10, generator=g)
        yield x, x[:, :1]


class Run:
    def __init__(self, cfg):
        self.cfg = cfg
        torch.manual_seed(0)
        self.net = nn.Linear(10, 1)
        self.opt = torch.optim.Adam(self.net.parameters(), lr=cfg["lr"])
        self.step = 0
        path = HERE / cfg["resume"]
        if path.exists():
            state = torch.load(path)
            self.net.load_state_dict(state["net"])
            self.step = state["samples_seen"]
        self.ddp = DDP(self.net)

    def train(self):
        remaining = self.cfg["max_steps"] - self.step
        for x, y in itertools.islice(stream(self.cfg["batch_size"]), max(remaining, 0)):
            loss = (self.ddp(x) - y).pow(2).mean()
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            self.step += 1

    def save(self):
        if dist.get_rank() == 0:
            torch.save({"net": self.net.state_dict(), "samples_seen": self.step}, "/tmp/resume_steps_final.pt")


if __name__ == "__main__":
    dist.init_process_group("gloo")
    run = Run(json.loads((HERE / "config.json").read_text()))
    run.train()
    run.save()
    if dist.get_rank() == 0:
        print("training finished, model saved")
    dist.destroy_process_group()
