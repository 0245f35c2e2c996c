import argparse
import logging
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

from weights import load_weights, save_weights


class Matcher(nn.Module):
    def __init__(self, dim=384):
        super().__init__()
        self.left = nn.Sequential(nn.Linear(dim, dim), nn.GELU(), nn.Linear(dim, dim))
        self.right = nn.Sequential(nn.Linear(dim, dim), nn.GELU(), nn.Linear(dim, dim))

    def forward(self, a, b):
        return (self.left(a) * self.right(b)).sum(-1)


def run_stage(name, model, args, device):
    blob = torch.load(os.path.join(args.root, f"{name}.pt"), map_location="cpu", weights_only=True)
    ds = TensorDataset(blob["a"], blob["b"], blob["y"].float())
    sampler = DistributedSampler(ds, drop_last=True)
    loader = DataLoader(ds, 512, sampler=sampler, drop_last=True, pin_memory=True)
    opt = torch.optim.AdamW(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        for a, b, y in loader:
            logit = model(a.to(device), b.to(device))
            loss = nn.functional.binary_cross_entropy_with_logits(logit, y.to(device))
            opt.zero_grad(set_to_none=True)
            loss.backward()
            opt.step()
    if dist.get_rank() == 0:
        save_weights(model, os.path.join(args.root, f"{name}.weights.pt"))
    dist.barrier()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("root")
    ap.add_argument("--stage", choices=("coarse", "fine"), required=True)
    ap.add_argument("--epochs", type=int, default=5)
    ap.add_argument("--lr", type=float, default=2e-4)
    args = ap.parse_args()
    logging.basicConfig(level=logging.INFO)
    dist.init_process_group("nccl")
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    net = Matcher()
    if args.stage == "fine":
        load_weights(net, os.path.join(args.root, "coarse.weights.pt"))
    model = DDP(net.to(device), device_ids=[device.index])
    run_stage(args.stage, model, args, device)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
