import argparse
import contextlib
import logging

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

from asr import AlignmentError, CtcCriterion, SubsampledEncoder
from corpus import Utterances, pack

log = logging.getLogger("asr")


class Brain:
    tolerated = (AlignmentError,)

    def __init__(self, hp):
        self.hp = hp
        torch.manual_seed(hp.seed)
        self.net = DDP(SubsampledEncoder(16, 32, 20))
        self.crit = CtcCriterion()
        self.opt = torch.optim.AdamW(self.net.parameters(), lr=1e-3)
        self.skipped = 0

    def fit_batch(self, batch):
        x, xl, y, yl = pack(batch)
        logp, ol = self.net(x, xl)
        loss = self.crit(logp, ol, y, yl)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return loss.item()

    def epoch(self, data, ep):
        total = n = 0
        for batch in data.batches(self.hp.batch, 100 * ep):
            try:
                total += self.fit_batch(batch)
                n += 1
            except self.tolerated:
                self.skipped += 1
        return total / max(n, 1)

    def report(self, ep, value):
        vals = [None] * dist.get_world_size()
        dist.all_gather_object(vals, value)
        if dist.get_rank() == 0:
            log.info("epoch %d loss %s", ep, vals)


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--seed", type=int, default=3)
    ap.add_argument("--batch", type=int, default=8)
    ap.add_argument("--epochs", type=int, default=6)
    hp = ap.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    dist.init_process_group("gloo")
    data = Utterances(dist.get_rank(), 320, 16, 20, fast_speech={(1, 211)})
    brain = Brain(hp)
    for ep in range(hp.epochs):
        brain.report(ep, brain.epoch(data, ep))
    with contextlib.suppress(RuntimeError):
        dist.destroy_process_group()
