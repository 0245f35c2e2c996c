import argparse
import logging
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from meters import Meters

logger = logging.getLogger("segtrain")


class SegTrainer:
    def __init__(self, opts):
        self.opts = opts
        self.local_rank = int(os.environ["LOCAL_RANK"])
        self.device = torch.device("cuda", self.local_rank)
        self.is_main = dist.get_rank() == 0
        net = nn.Sequential(nn.Conv2d(3, 64, 3, padding=1), nn.ReLU(), nn.Conv2d(64, opts.classes, 1))
        self.model = DDP(net.to(self.device), device_ids=[self.local_rank])
        self.optim = torch.optim.Adam(self.model.parameters(), lr=opts.lr)
        self.meters = Meters(self.device)

    def loader(self):
        blob = torch.load(self.opts.data, map_location="cpu")
        ds = TensorDataset(blob["images"], blob["masks"])
        return DataLoader(ds, self.opts.batch, sampler=DistributedSampler(ds, drop_last=True))

    def train_step(self, img, mask):
        logits = self.model(img.to(self.device))
        mask = mask.to(self.device)
        loss = nn.functional.cross_entropy(logits, mask)
        self.optim.zero_grad()
        loss.backward()
        self.optim.step()
        self.meters.add(len(img), loss=loss.item(), pix=(logits.argmax(1) == mask).float().mean().item())

    def fit(self):
        loader = self.loader()
        step = 0
        for epoch in range(self.opts.epochs):
            loader.sampler.set_epoch(epoch)
            for img, mask in loader:
                self.train_step(img, mask)
                step += 1
                if step % self.opts.log_every == 0:
                    if self.is_main:  # cause
                        stats = self.meters.summary()  # cause
                        logger.info("step %d %s", step, " ".join(f"{k}={v:.4f}" for k, v in stats.items()))
                    self.meters.reset()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--data", required=True)
    p.add_argument("--classes", type=int, default=19)
    p.add_argument("--batch", type=int, default=8)
    p.add_argument("--epochs", type=int, default=40)
    p.add_argument("--lr", type=float, default=1e-3)
    p.add_argument("--log-every", type=int, default=50)
    opts = p.parse_args()
    logging.basicConfig(level=logging.INFO)
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group(backend="nccl")
    SegTrainer(opts).fit()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
