import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler

from encoded import Encoded


class Bag(nn.Module):
    def __init__(self, dim=300, classes=5):
        super().__init__()
        self.emb = nn.Embedding(65536, dim, padding_idx=0)
        self.ff = nn.Sequential(nn.Linear(dim, dim), nn.GELU(), nn.Dropout(0.2), nn.Linear(dim, classes))

    def forward(self, ids):
        keep = (ids > 0).unsqueeze(-1)
        return self.ff((self.emb(ids) * keep).sum(1) / keep.sum(1).clamp_min(1))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--train", default="reviews.tsv")
    ap.add_argument("--cache", default=".cache/garganey")
    ap.add_argument("--epochs", type=int, default=6)
    ap.add_argument("--batch", type=int, default=256)
    args = ap.parse_args()
    gpu = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(gpu)
    dist.init_process_group("nccl")
    ds = Encoded(args.train, args.cache)  # cause
    order = DistributedSampler(ds, seed=9)
    loader = DataLoader(ds, args.batch, sampler=order, num_workers=4, pin_memory=True)
    torch.manual_seed(9)
    net = DistributedDataParallel(Bag().cuda(gpu), device_ids=[gpu])
    opt = torch.optim.AdamW(net.parameters(), lr=2e-3)
    for epoch in range(args.epochs):
        order.set_epoch(epoch)
        for ids, label in loader:
            loss = nn.functional.cross_entropy(net(ids.cuda(gpu, non_blocking=True)), label.cuda(gpu, non_blocking=True))
            opt.zero_grad(set_to_none=True)
            loss.backward()
            opt.step()
    if dist.get_rank() == 0:
        torch.save(net.module.state_dict(), "bag.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
