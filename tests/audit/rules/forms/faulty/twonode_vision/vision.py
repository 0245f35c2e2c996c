import argparse

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from env import World


class Patches(nn.Module):
    def __init__(self, classes, dim=384):
        super().__init__()
        self.cut = nn.Conv2d(3, dim, 16, 16)
        layer = nn.TransformerEncoderLayer(dim, 6, 4 * dim, batch_first=True, norm_first=True)
        self.body = nn.TransformerEncoder(layer, 8, enable_nested_tensor=False)
        self.head = nn.Linear(dim, classes)

    def forward(self, x):
        tokens = self.cut(x).flatten(2).transpose(1, 2)
        return self.head(self.body(tokens).mean(1))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("tensors")
    ap.add_argument("--epochs", type=int, default=20)
    args = ap.parse_args()
    world = World().open()
    blob = torch.load(args.tensors, map_location="cpu", mmap=True)
    data = TensorDataset(blob["x"], blob["y"])
    sampler = DistributedSampler(data, world.size, world.rank)
    loader = DataLoader(data, 96, sampler=sampler, num_workers=4, pin_memory=True)
    net = Patches(1000).to(world.device)
    net = DistributedDataParallel(net, device_ids=[world.device.index])
    opt = torch.optim.AdamW(net.parameters(), 1e-3, weight_decay=0.05)
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        for x, y in loader:
            x, y = x.to(world.device, non_blocking=True), y.to(world.device, non_blocking=True)
            opt.zero_grad(set_to_none=True)
            nn.functional.cross_entropy(net(x), y).backward()
            opt.step()
        if world.chief:
            torch.save({"net": net.module.state_dict(), "epoch": epoch}, "vision.pt")
    world.close()


if __name__ == "__main__":
    main()
