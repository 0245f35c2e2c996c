import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from update import Precision, UpdateRule


class Patchy(nn.Module):
    def __init__(self, size=64, patch=8, dim=192, depth=6, classes=200):
        super().__init__()
        self.embed = nn.Conv2d(3, dim, patch, patch)
        self.pos = nn.Parameter(torch.randn(1, (size // patch) ** 2, dim) * 0.02)
        layer = nn.TransformerEncoderLayer(dim, 3, 4 * dim, activation="gelu", batch_first=True, norm_first=True)
        self.enc = nn.TransformerEncoder(layer, depth, enable_nested_tensor=False)
        self.head = nn.Linear(dim, classes)

    def forward(self, x):
        x = self.embed(x).flatten(2).transpose(1, 2) + self.pos
        return self.head(self.enc(x).mean(1))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--data", default="tiny.pt")
    ap.add_argument("--epochs", type=int, default=90)
    ap.add_argument("--batch", type=int, default=128)
    ap.add_argument("--no-half", action="store_true")
    a = ap.parse_args()
    gpu = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(gpu)
    dist.init_process_group("nccl")
    torch.manual_seed(1)
    blob = torch.load(a.data, map_location="cpu", weights_only=True)
    ds = TensorDataset(blob["x"], blob["y"])
    order = DistributedSampler(ds, drop_last=True)
    loader = DataLoader(ds, a.batch, sampler=order, drop_last=True, num_workers=4, pin_memory=True)
    net = DistributedDataParallel(Patchy().cuda(), device_ids=[gpu])
    opt = torch.optim.AdamW(net.parameters(), 1e-3, weight_decay=0.05)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, a.epochs * len(loader))
    precision = Precision(half=not a.no_half)
    rule = UpdateRule(net, opt, sched, precision)
    for epoch in range(a.epochs):
        order.set_epoch(epoch)
        for x, y in loader:
            with precision.context():
                loss = nn.functional.cross_entropy(net(x.cuda(non_blocking=True)), y.cuda(non_blocking=True), label_smoothing=0.1)
            rule.backward(loss)
            rule.apply()
        if dist.get_rank() == 0:
            print(epoch, f"norm {rule.last_norm.item():.3f}", flush=True)
    if dist.get_rank() == 0:
        torch.save(net.module.state_dict(), "vit.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
