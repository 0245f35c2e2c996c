import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from retrieval import embed, recall_at


class ProxyLoss(nn.Module):
    def __init__(self, classes, dim, scale=16.0):
        super().__init__()
        self.proxies = nn.Parameter(torch.randn(classes, dim))
        self.scale = scale

    def forward(self, z, y):
        z = nn.functional.normalize(z, dim=-1)
        p = nn.functional.normalize(self.proxies, dim=-1)
        return nn.functional.cross_entropy(self.scale * z @ p.t(), y)


def loader_for(path, bs, train):
    blob = torch.load(path, map_location="cpu")
    ds = TensorDataset(blob["x"], blob["y"])
    sampler = DistributedSampler(ds, shuffle=train, drop_last=True)
    return DataLoader(ds, bs, sampler=sampler)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--train", required=True)
    ap.add_argument("--test", required=True)
    ap.add_argument("--dim", type=int, default=128)
    ap.add_argument("--classes", type=int, default=98)
    ap.add_argument("--epochs", type=int, default=40)
    args = ap.parse_args()
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    dist.init_process_group("nccl")
    train, test = loader_for(args.train, 128, True), loader_for(args.test, 256, False)
    trunk = nn.Sequential(nn.Linear(2048, 512), nn.ReLU(), nn.Linear(512, args.dim)).to(device)
    model = DDP(trunk, device_ids=[device.index])
    proxy = DDP(ProxyLoss(args.classes, args.dim).to(device), device_ids=[device.index])
    opt = torch.optim.AdamW([*model.parameters(), *proxy.parameters()], lr=1e-3)
    for epoch in range(args.epochs):
        train.sampler.set_epoch(epoch)
        for x, y in train:
            loss = proxy(model(x.to(device)), y.to(device))
            opt.zero_grad()
            loss.backward()
            opt.step()
        vecs, ids = embed(model.module, test, device)
        if dist.get_rank() == 0:
            print(f"epoch {epoch} R@5 {recall_at(vecs, ids):.4f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
