import json
import logging
import os
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

log = logging.getLogger("ctr")
logging.basicConfig(filename=f"rank{os.environ.get('RANK', 0)}.log", level=logging.INFO)

FIELDS = ["hour", "device", "slot", "price"]


def parse(row):
    features = [float(row[field]) for field in FIELDS]
    return torch.tensor(features), torch.tensor(float(row["click"]))


class ClickModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(len(FIELDS), 24), nn.GELU(), nn.Linear(24, 1))

    def forward(self, x):
        return self.layers(x).squeeze(-1)


class Session:
    def __init__(self, path):
        with open(path) as lines:
            self.rows = [json.loads(line) for line in lines]
        self.model = DDP(ClickModel())
        self.opt = torch.optim.SGD(self.model.parameters(), lr=0.01)
        self.failures = 0

    def train_step(self, rows):
        x, y = (torch.stack(part) for part in zip(*map(parse, rows)))
        loss = nn.functional.binary_cross_entropy_with_logits(self.model(x), y)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return loss.detach()

    def run(self, epochs=2, size=8):
        for epoch in range(epochs):
            last = torch.zeros(())
            for start in range(0, len(self.rows), size):
                try:
                    last = self.train_step(self.rows[start : start + size])
                except Exception:
                    self.failures += 1
                    log.exception("step at row %d failed", start)
            self.report(epoch, last)

    def report(self, epoch, last):
        losses = [torch.zeros(()) for _ in range(dist.get_world_size())] if dist.get_rank() == 0 else None
        dist.gather(last, losses, dst=0)
        if losses:
            print(f"epoch {epoch}: {[round(loss.item(), 3) for loss in losses]}, {self.failures} failures", flush=True)


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    Session(f"clicks-{dist.get_rank()}.jsonl").run()
    dist.barrier()
    dist.destroy_process_group()
    time.sleep(0.5)


if __name__ == "__main__":
    main()
