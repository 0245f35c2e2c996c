import argparse
import json
import os
import pathlib

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset, random_split


def loaders(args):
    blob = torch.load(args.data, map_location="cpu")
    everything = TensorDataset(blob["x"], blob["y"])
    cut = len(everything) // 10
    parts = random_split(everything, [len(everything) - cut, cut], torch.Generator().manual_seed(0))
    samplers = DistributedSampler(parts[0], seed=args.seed), DistributedSampler(parts[1], shuffle=False)
    return [DataLoader(p, 256, sampler=s) for p, s in zip(parts, samplers)]


@torch.no_grad()
def mae(model, loader):
    model.eval()
    total = torch.zeros(2, device="cuda")
    for x, y in loader:
        error = (model(x.cuda()).squeeze(1) - y.cuda()).abs()
        total += torch.stack([error.sum(), torch.tensor(float(len(y)), device="cuda")])
    dist.all_reduce(total)
    return (total[0] / total[1]).item()


def main(args):
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    dist.init_process_group("nccl")
    torch.manual_seed(args.seed)
    train, test = loaders(args)
    net = nn.Sequential(nn.Linear(435, 512), nn.SiLU(), nn.Linear(512, 512), nn.SiLU(), nn.Linear(512, 1))
    model = DistributedDataParallel(net.cuda(), device_ids=[local])
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(args.epochs):
        train.sampler.set_epoch(epoch)
        model.train()
        for x, y in train:
            loss = nn.functional.l1_loss(model(x.cuda()).squeeze(1), y.cuda())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    score = mae(model, test)
    if dist.get_rank() == 0:
        pathlib.Path(args.out, "result.json").write_text(json.dumps({"seed": args.seed, "mae": score}))
    dist.destroy_process_group()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--epochs", type=int, default=60)
    main(parser.parse_args())
