import argparse
import logging
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from weights import dump, warm_start

log = logging.getLogger("finetune")


class TabNet(nn.Module):
    def __init__(self, n_in, n_out, width=384):
        super().__init__()
        self.stem = nn.Linear(n_in, width)
        self.body = nn.Sequential(*[nn.Sequential(nn.LayerNorm(width), nn.Linear(width, width), nn.SiLU())
                                    for _ in range(4)])
        self.head = nn.Linear(width, n_out)

    def forward(self, x):
        return self.head(self.body(self.stem(x)))


def fit(net, loader, sampler, epochs, lr, device):
    opt = torch.optim.AdamW(net.parameters(), lr=lr)
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        for x, y in loader:
            loss = nn.functional.cross_entropy(net(x.to(device)), y.to(device))
            opt.zero_grad(set_to_none=True)
            loss.backward()
            opt.step()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("stage", choices=["pretrain", "finetune"])
    ap.add_argument("data")
    ap.add_argument("--weights", default="tabnet.pt")
    ap.add_argument("--epochs", type=int, default=10)
    args = ap.parse_args()
    logging.basicConfig(level=logging.INFO)
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    dist.init_process_group("nccl")
    blob = torch.load(args.data, map_location="cpu")
    data = TensorDataset(blob["x"], blob["y"])
    sampler = DistributedSampler(data)
    loader = DataLoader(data, 1024, sampler=sampler)
    net = TabNet(blob["x"].shape[1], int(blob["classes"]))
    if args.stage == "finetune":
        net = warm_start(net, args.weights)
    net = DistributedDataParallel(net.to(local), device_ids=[local])
    fit(net, loader, sampler, args.epochs, 1e-3 if args.stage == "pretrain" else 1e-4, local)
    if dist.get_rank() == 0:
        dump(net, args.weights if args.stage == "pretrain" else "final.pt", stage=args.stage)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
