import argparse
import logging

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

from anchors import AnchorPicker, NoAnchors
from dialogs import Dialogs
from draft import Draft

log = logging.getLogger("speculative")


class DraftTrainer:
    def __init__(self, a):
        self.a = a
        self.rank = dist.get_rank()
        self.net = DDP(Draft(128, 48, a.block))
        self.opt = torch.optim.AdamW(self.net.parameters(), lr=1e-3)
        self.pick = AnchorPicker(a.block, 2)
        self.data = Dialogs(self.rank, dist.get_world_size(), a.dialogs, a.batch, 8)
        self.skipped = 0

    def update(self, x, lengths):
        rows, pos = self.pick(lengths, self.data.gen)
        loss = self.net(x, rows, pos)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return loss.item()

    def epoch(self, e):
        seen = []
        for x, lengths in self.data:
            try:
                seen.append(self.update(x, lengths))
            except NoAnchors as err:
                self.skipped += 1
                log.debug("skip: %s", err)
        return self.summary(e, seen)

    def summary(self, e, seen):
        parts = [None] * dist.get_world_size()
        dist.all_gather_object(parts, {"loss": sum(seen) / len(seen), "n": len(seen), "skipped": self.skipped})
        if self.rank == 0:
            log.info("epoch %d %s", e, parts)


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--block", type=int, default=10)
    p.add_argument("--dialogs", type=int, default=1600)
    p.add_argument("--batch", type=int, default=8)
    p.add_argument("--epochs", type=int, default=3)
    a = p.parse_args()
    logging.basicConfig(level=logging.INFO)
    dist.init_process_group("gloo")
    torch.manual_seed(1)
    t = DraftTrainer(a)
    for e in range(a.epochs):
        t.epoch(e)
    dist.destroy_process_group()
