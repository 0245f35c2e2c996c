import argparse

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel

import world
from data import FreightData


class EtaModel(nn.Module):
    def __init__(self, n, width=256):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(n, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1))

    def forward(self, x):
        return self.net(x).squeeze(-1)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("data")
    ap.add_argument("--batch", type=int, default=1024)
    ap.add_argument("--epochs", type=int, default=30)
    args = ap.parse_args()

    device = world.start()
    data = FreightData(args.data, args.batch)
    model = DistributedDataParallel(EtaModel(data.features).to(device), device_ids=[device.index])
    opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for n in range(args.epochs):
        for x, eta in data.epoch(n):
            loss = nn.functional.smooth_l1_loss(model(x.to(device)), eta.to(device))
            opt.zero_grad(set_to_none=True)
            loss.backward()
            opt.step()
        if world.get_rank() == 0:
            print(n, loss.item())
            torch.save(model.module.state_dict(), "eta.pt")
    world.stop()


if __name__ == "__main__":
    main()
