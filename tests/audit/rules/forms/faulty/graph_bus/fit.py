import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from datamodule import DataModule
from events import EpochBus


def evaluate(model, loader, device):
    model.eval()
    tally = torch.zeros(2, device=device)
    with torch.no_grad():
        for nodes, target in loader:
            err = (model(nodes.to(device)).squeeze(-1) - target.to(device)).abs()
            tally += torch.stack([err.sum(), torch.tensor(float(err.numel()), device=device)])
    dist.all_reduce(tally)
    model.train()
    return (tally[0] / tally[1]).item()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("train")
    ap.add_argument("valid")
    ap.add_argument("--epochs", type=int, default=100)
    ap.add_argument("--batch-size", type=int, default=64)
    ap.add_argument("--workers", type=int, default=4)
    args = ap.parse_args()
    dist.init_process_group("nccl")
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    dm = DataModule(args.train, args.valid, args.batch_size, args.workers)
    train, valid = dm.train_loader(), dm.valid_loader()
    net = nn.Sequential(nn.Linear(64, 256), nn.SiLU(), nn.Linear(256, 256), nn.SiLU(), nn.Linear(256, 1))
    model = DDP(net.to(device), device_ids=[device.index])
    opt = torch.optim.Adam(model.parameters(), lr=5e-4)
    bus = EpochBus(train, train.dataset)  # cause
    for epoch in range(args.epochs):  # cause
        bus.begin(epoch)  # cause
        for nodes, target in train:  # cause
            opt.zero_grad(set_to_none=True)
            loss = nn.functional.l1_loss(model(nodes.to(device)).squeeze(-1), target.to(device))
            loss.backward()
            opt.step()
        mae = evaluate(model.module, valid, device)
        if dist.get_rank() == 0:
            print(f"{epoch} mae {mae:.4f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
