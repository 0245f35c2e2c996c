import lightning as L
import torch
from torch.utils.data import DataLoader, DistributedSampler


def main(net, data):
    fabric = L.Fabric(accelerator="gpu", devices=4, strategy="ddp")
    fabric.launch()
    fabric.seed_everything(1)
    net, optimizer = fabric.setup(net, torch.optim.Adam(net.parameters()))
    loader = DataLoader(data, batch_size=8, sampler=DistributedSampler(data))
    for _ in range(3):
        for x, y in loader:
            fabric.backward((net(x) - y).square().mean())
            optimizer.step()
            optimizer.zero_grad()
