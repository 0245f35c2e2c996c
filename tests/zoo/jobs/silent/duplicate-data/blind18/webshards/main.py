import argparse
import logging

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader

from clip import Clip
from stream import ShardStream
from topology import Topology

log = logging.getLogger("clip")


class Pretraining:
    def __init__(self, a):
        self.a = a
        self.stream = ShardStream(a.shards, a.per_shard, Topology())
        self.loader = DataLoader(self.stream, a.batch, num_workers=a.workers, drop_last=True)
        self.model = DDP(Clip())
        self.opt = torch.optim.AdamW(self.model.parameters(), lr=1e-3, weight_decay=0.1)

    def run(self):
        for e in range(self.a.epochs):
            self.stream.epoch = e
            for n, (img, txt) in enumerate(self.loader):
                loss = self.model(img, txt)
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()
            if dist.get_rank() == 0:
                log.info("epoch %d batches %d loss %.4f", e, n + 1, loss.item())


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--shards", type=int, default=32)
    p.add_argument("--per-shard", type=int, default=128)
    p.add_argument("--batch", type=int, default=32)
    p.add_argument("--workers", type=int, default=1)
    p.add_argument("--epochs", type=int, default=4)
    a = p.parse_args()
    logging.basicConfig(level=logging.INFO)
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    Pretraining(a).run()
    dist.destroy_process_group()
