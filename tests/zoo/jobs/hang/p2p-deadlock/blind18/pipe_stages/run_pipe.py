import argparse
import logging

import torch
import torch.distributed as dist

from comm import Links
from stage import Stage, build

log = logging.getLogger("pipe")


class Schedule:
    def __init__(self, stage, args):
        self.stage, self.args = stage, args

    def begin_epoch(self, epoch):
        self.gen = torch.Generator().manual_seed(epoch)
        for ch in self.stage.links.all():
            ch.rewind()

    def data(self):
        a = self.args
        x = torch.randn(a.micro, a.mb, a.dim, generator=self.gen)
        return x, x[..., : a.classes].argmax(-1)

    def epoch(self, epoch):
        self.begin_epoch(epoch)
        for _ in range(self.args.steps):
            x, y = self.data()
            loss = self.stage.batch(x, y)
        if self.stage.links.nxt is None:
            log.info("epoch %d loss %.4f", epoch, loss)


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--dim", type=int, default=32)
    p.add_argument("--classes", type=int, default=8)
    p.add_argument("--micro", type=int, default=4)
    p.add_argument("--mb", type=int, default=16)
    p.add_argument("--steps", type=int, default=150)
    p.add_argument("--epochs", type=int, default=3)
    a = p.parse_args()
    logging.basicConfig(level=logging.INFO)
    dist.init_process_group("gloo")
    r, w = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(r)
    sched = Schedule(Stage(build(r, w, a.dim, a.classes), Links(r, w, (a.mb, a.dim)), a.micro), a)
    for e in range(a.epochs):
        sched.epoch(e)
    dist.barrier()
    dist.destroy_process_group()
