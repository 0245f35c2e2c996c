import argparse
import logging

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader

from ctr import Ctr
from logs import ClickLog

log = logging.getLogger("ctr")


def check(model, batch, accum):
    loss_fn = nn.functional.binary_cross_entropy_with_logits
    return loss_fn(model(batch[0]), batch[1]) / accum


class Loop:
    def __init__(self, args):
        self.args = args
        rank, world = dist.get_rank(), dist.get_world_size()
        files = [(i, 640 if i % 2 else 448) for i in range(8)]
        self.data = ClickLog(files, rank, world)
        self.loader = DataLoader(self.data, args.batch)
        self.model = DDP(Ctr(300, 24))
        self.opt = torch.optim.Adam(self.model.parameters(), lr=4e-3)

    def micro(self):
        chunk = []
        for batch in self.loader:
            chunk.append(batch)
            if len(chunk) == self.args.accum:
                yield chunk
                chunk = []

    def epoch(self, e):
        self.data.epoch = e
        seen = 0
        with self.model.join():
            for chunk in self.micro():
                with self.model.no_sync():
                    for batch in chunk[:-1]:
                        check(self.model, batch, self.args.accum).backward()
                loss = check(self.model, chunk[-1], self.args.accum)
                loss.backward()
                self.opt.step()
                self.opt.zero_grad()
                seen += 1
        log.info("[%d] epoch %d updates %d loss %.4f", dist.get_rank(), e, seen, loss.item() * self.args.accum)


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--batch", type=int, default=16)
    p.add_argument("--accum", type=int, default=2)
    p.add_argument("--epochs", type=int, default=4)
    args = p.parse_args()
    logging.basicConfig(level=logging.INFO)
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    loop = Loop(args)
    for e in range(args.epochs):
        loop.epoch(e)
    dist.barrier()
    dist.destroy_process_group()
