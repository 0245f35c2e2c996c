import argparse
import json

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, WeightedRandomSampler
from torch.utils.data.distributed import DistributedSampler

import utils
from wells import WellCrops


def get_model(num_classes):
    return nn.Sequential(
        nn.Conv2d(2, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(2),
        nn.Flatten(), nn.Linear(128, num_classes))


def build_loaders(cfg, rank, world):
    train = WellCrops(cfg["n_train"], cfg["num_classes"], cfg["rare_fraction"], seed=1)
    val = WellCrops(cfg["n_val"], cfg["num_classes"], cfg["rare_fraction"], seed=2)
    sampler = WeightedRandomSampler(train.class_weights(), num_samples=len(train) // world, replacement=True)
    train_loader = DataLoader(train, cfg["batch_size"], sampler=sampler, drop_last=True)
    val_loader = DataLoader(val, 100, sampler=DistributedSampler(val, world, rank, shuffle=False))
    return train_loader, val_loader


@torch.no_grad()
def evaluate(model, loader, num_classes):
    model.eval()
    hit, seen = torch.zeros(num_classes), torch.zeros(num_classes)
    for x, y in loader:
        pred = model(x).argmax(1)
        hit += torch.bincount(y[pred == y], minlength=num_classes)
        seen += torch.bincount(y, minlength=num_classes)
    torch.distributed.all_reduce(hit)
    torch.distributed.all_reduce(seen)
    model.train()
    return (hit / seen.clamp(min=1)).mean().item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--config", default="config.json")
    parser.add_argument("--output", default="wells.pt")
    args = parser.parse_args()
    cfg = json.load(open(args.config))
    rank, world = utils.init_distributed_mode()
    utils.fix_random_seeds(cfg["seed"])

    train_loader, val_loader = build_loaders(cfg, rank, world)
    model = DistributedDataParallel(get_model(cfg["num_classes"]))
    opt = torch.optim.AdamW(model.parameters(), lr=cfg["lr"])
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, cfg["epochs"] * len(train_loader))
    for epoch in range(cfg["epochs"]):
        meter = utils.SmoothedValue()
        for x, y in train_loader:
            loss = nn.functional.cross_entropy(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            sched.step()
            meter.update(loss.item(), len(y))
        avg = meter.synchronize()
        bal = evaluate(model, val_loader, cfg["num_classes"])
        if rank == 0:
            print(f"epoch {epoch} loss {avg:.4f} balanced accuracy {bal:.3f} "
                  f"({len(train_loader) * cfg['batch_size'] * world} crops)", flush=True)
    utils.save_on_master(model.module.state_dict(), args.output)
    torch.distributed.barrier()
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
