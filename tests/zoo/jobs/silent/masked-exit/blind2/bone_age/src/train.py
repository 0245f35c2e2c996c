import argparse
import json

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, random_split

from dataset import Hands
from metrics import MeanAbsoluteError
from model import BoneAgeNet


def run_epoch(model, loader, optimizer):
    model.train()
    for image, sex, age in loader:
        loss = nn.functional.l1_loss(model(image, sex), age)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


@torch.no_grad()
def validate(model, loader):
    model.eval()
    metric = MeanAbsoluteError()
    for image, sex, age in loader:
        metric.update(model.module(image, sex), age)
    return metric.compute()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--config", required=True)
    args = parser.parse_args()
    with open(args.config) as f:
        cfg = json.load(f)
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    train_set, valid_set = random_split(Hands(**cfg["data"], target=cfg["train"]["target"]), [224, 32])
    loaders = [
        DataLoader(part, cfg["train"]["batch_size"], sampler=DistributedSampler(part)) for part in (train_set, valid_set)
    ]
    model = DDP(BoneAgeNet(**cfg["model"]))
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg["train"]["lr"])
    history = {}
    for epoch in range(args.epochs):
        loss = run_epoch(model, loaders[0], optimizer)
        history[epoch] = {"loss": loss, "mae": validate(model, loaders[1])}
        if dist.get_rank() == 0:
            print(f"epoch {epoch}: {json.dumps(history[epoch])}", flush=True)
            best = min(history, key=lambda e: history[e]["mae"])
            if best == epoch:
                print("best so far", history[best]["val_mae"], flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
