import logging
from collections import Counter

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from anchors import NoValidAnchors, anchors, sample_batch

log = logging.getLogger("draft")


class DraftTrainer:
    def __init__(self):
        self.rank = dist.get_rank()
        torch.manual_seed(2)
        self.model = DDP(nn.Sequential(nn.Embedding(32, 32), nn.Linear(32, 32)))
        self.opt = torch.optim.Adam(self.model.parameters(), lr=3e-3)
        self.counts = Counter()

    def micro(self, step):
        toks, lens = sample_batch(self.rank, step)
        rows = toks[anchors(lens)]
        loss = F.cross_entropy(self.model(rows[:, :-1]).flatten(0, 1), rows[:, 1:].flatten())
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return loss.item()

    def fit(self, steps):
        for step in range(steps):
            try:
                self.micro(step)
                self.counts["ok"] += 1
            except NoValidAnchors:
                self.counts["skipped"] += 1
                continue
        total = torch.tensor([self.counts["ok"], self.counts["skipped"]])
        dist.all_reduce(total)
        log.info("done %s", total.tolist())


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO)
    dist.init_process_group("gloo")
    DraftTrainer().fit(120)
    dist.destroy_process_group()
