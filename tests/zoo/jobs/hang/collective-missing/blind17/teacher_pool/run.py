import argparse
import json
import logging

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

from distil import Head, SoftTargets, kd_loss
from pools import Pools


def batches(cfg, epoch, rank):
    gen = torch.Generator().manual_seed(epoch * 97 + rank)
    centres = torch.randn(cfg["classes"], cfg["dim"], generator=torch.Generator().manual_seed(0))
    for _ in range(cfg["batches"]):
        y = torch.randint(cfg["classes"], (cfg["batch"],), generator=gen)
        yield centres[y] + torch.randn(cfg["batch"], cfg["dim"], generator=gen), y


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--config", default="configs/distil.json")
    cfg = json.load(open(ap.parse_args().config))
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    logging.basicConfig(level=logging.INFO if rank == 0 else logging.WARNING, format="%(message)s")
    pools = Pools()
    pools.declare("everyone", range(cfg["world"]))
    pools.declare("teachers", range(cfg["teachers"]))
    pools.declare("graders", range(cfg["world"]))
    torch.manual_seed(3)
    student = DDP(Head(cfg["dim"], cfg["classes"], 64), process_group=pools.group("everyone"))
    targets = SoftTargets(Head(cfg["dim"], cfg["classes"], 128).requires_grad_(False), pools, cfg["temperature"])
    opt = torch.optim.SGD(student.parameters(), cfg["lr"])
    for epoch in range(cfg["epochs"]):
        distilling = epoch >= cfg["warm_epochs"]
        for n, (x, y) in enumerate(batches(cfg, epoch, rank)):
            if distilling and n == 0:
                targets.calibrate(x)
            soft = targets(x) if distilling else None
            loss = kd_loss(student(x), y, soft, cfg["temperature"])
            opt.zero_grad()
            loss.backward()
            opt.step()
        if distilling:
            agree = (soft.argmax(-1) == y).float().mean()
            dist.all_reduce(agree, group=pools.group("graders"))
            logging.info("teachers agree on %.3f", agree.item() / cfg["world"])
        logging.info("epoch %d distilling=%s loss %.4f", epoch, distilling, loss.item())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
