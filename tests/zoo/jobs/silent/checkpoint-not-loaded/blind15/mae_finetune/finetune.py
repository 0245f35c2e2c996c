import argparse
import logging

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

import weights
from nets import PatchClassifier
from shapes import images

log = logging.getLogger("finetune")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--init", required=True)
    p.add_argument("--steps", type=int, default=120)
    p.add_argument("--lr", type=float, default=5e-4)
    a = p.parse_args()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    logging.basicConfig(level=logging.INFO if rank == 0 else logging.WARNING, format="%(message)s")
    torch.manual_seed(1)
    model = DistributedDataParallel(weights.init_from(PatchClassifier(4), a.init))
    groups = [{"params": model.module.encoder.parameters(), "lr": a.lr * 0.2}, {"params": model.module.head.parameters()}]
    opt = torch.optim.AdamW(groups, a.lr)
    x, y = images(512, 5)
    g = torch.Generator().manual_seed(rank)
    for step in range(a.steps):
        rows = torch.randint(len(x), (16,), generator=g)
        loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 30 == 0:
            log.info("step %d loss %.3f", step, loss.item())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
