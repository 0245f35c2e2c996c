import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from walltime import WalltimeGuard


def load_backbone(net, path):
    state = torch.load(path, map_location="cpu")
    missing, unexpected = net.load_state_dict(state, strict=False)
    bad = [k for k in missing if not k.startswith("head.")]
    if bad or unexpected:
        raise RuntimeError(f"backbone does not fit: missing {bad}, unexpected {unexpected}")


class Net(nn.Module):
    def __init__(self, n_in, classes):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(n_in, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU())
        self.head = nn.Linear(512, classes)

    def forward(self, x):
        return self.head(self.trunk(x))


def save(model, opt, epoch, path):
    if dist.get_rank() == 0:
        torch.save({"model": model.module.state_dict(), "opt": opt.state_dict(), "epoch": epoch}, path + ".tmp")
        os.replace(path + ".tmp", path)
    dist.barrier()


def train(args, device):
    blob = torch.load(args.data, map_location="cpu")
    ds = TensorDataset(blob["x"], blob["y"])
    sampler = DistributedSampler(ds, drop_last=True)
    loader = DataLoader(ds, 256, sampler=sampler)
    net = Net(blob["x"].size(1), args.classes)
    load_backbone(net, args.backbone)
    model = DDP(net.to(device), device_ids=[device.index])
    opt = torch.optim.AdamW(model.parameters(), lr=1e-4)
    guard = WalltimeGuard(args.minutes, device)
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        for i, (x, y) in enumerate(loader):
            loss = nn.functional.cross_entropy(model(x.to(device)), y.to(device))
            opt.zero_grad()
            loss.backward()
            opt.step()
            if i % 50 == 0 and guard.should_stop():
                save(model, opt, epoch, args.out)
                return
        save(model, opt, epoch + 1, args.out)


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--data", required=True)
    ap.add_argument("--backbone", required=True)
    ap.add_argument("--out", default="run.pt")
    ap.add_argument("--classes", type=int, default=50)
    ap.add_argument("--minutes", type=float, default=110)
    ap.add_argument("--epochs", type=int, default=100)
    ns = ap.parse_args()
    dev = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(dev)
    dist.init_process_group("nccl", device_id=dev)
    train(ns, dev)
    dist.destroy_process_group()
