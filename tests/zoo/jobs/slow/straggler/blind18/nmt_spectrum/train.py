import argparse
import logging
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

from buckets import BucketedSplit
from corpus import Bitext
from nmt import Encoder
from spectrum import Silent, SpectrumLog

log = logging.getLogger("nmt")


class Task:
    def __init__(self, cfg):
        self.cfg = cfg
        self.text = Bitext(cfg.sentences, cfg.vocab, 1)
        self.split = BucketedSplit(self.text.lengths, cfg.batch, dist.get_rank(), dist.get_world_size())
        self.model = DDP(Encoder(cfg.vocab))
        self.opt = torch.optim.Adam(self.model.parameters(), lr=5e-4)
        self.watch = SpectrumLog("spectrum.jsonl", cfg.spectrum_every, 1) if dist.get_rank() == 0 else Silent()
        self.step = 0

    def train(self):
        for epoch in range(self.cfg.epochs):
            t0 = time.time()
            for ids in self.split.epoch(epoch):
                loss = self.model(self.text.batch(ids))
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()
                self.step += 1
                self.watch.visit(epoch, self.step, self.model.module)
            if dist.get_rank() == 0:
                log.info("epoch %d loss %.3f (%.1f s)", epoch, loss.item(), time.time() - t0)


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--sentences", type=int, default=1280)
    p.add_argument("--vocab", type=int, default=300)
    p.add_argument("--batch", type=int, default=16)
    p.add_argument("--epochs", type=int, default=4)
    p.add_argument("--spectrum-every", type=int, default=1)
    cfg = p.parse_args()
    logging.basicConfig(level=logging.INFO)
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    Task(cfg).train()
    dist.destroy_process_group()
