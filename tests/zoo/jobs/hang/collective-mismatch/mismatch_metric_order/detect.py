import logging
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from meters import Meters
from scenes import scenes

logging.basicConfig(level=logging.INFO, format="%(message)s")


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(16, 32), nn.ReLU())
        self.cls, self.box = nn.Linear(32, 3), nn.Linear(32, 4)

    def forward(self, x):
        h = self.trunk(x)
        return self.cls(h), self.box(h)


def step(model, optimizer, scene, meters):
    logits, boxes = model(scene["x"])
    loss = nn.functional.cross_entropy(logits, scene["cls"]) + nn.functional.l1_loss(boxes, scene["box"])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if scene["crowd"]:
        meters.append("sizes", boxes.detach().prod(1))
    meters.add("loss", loss.item())
    meters.append("sizes", boxes.detach()[:, 2:].prod(1))


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    model = DDP(Detector())
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for epoch in range(3):
        meters = Meters()
        for scene in scenes(dist.get_rank(), epoch):
            step(model, optimizer, scene, meters)
        summary = meters.synchronised()
        if dist.get_rank() == 0:
            logging.info("epoch %d %s", epoch, summary)
    dist.barrier()
    dist.destroy_process_group()
    time.sleep(0.5)


if __name__ == "__main__":
    main()
