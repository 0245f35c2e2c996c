import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Subset, TensorDataset
from torch.utils.data.distributed import DistributedSampler

from planning import TrialPlan


def loaders(path, batch_size):
    blob = torch.load(path, map_location="cpu", weights_only=True)
    out = []
    for part in ("train", "valid"):
        ds = TensorDataset(blob[part]["x"], blob[part]["y"])
        if part == "train":
            out.append(DataLoader(ds, batch_size, sampler=DistributedSampler(ds)))
        else:
            out.append(DataLoader(Subset(ds, range(dist.get_rank(), len(ds), dist.get_world_size())), batch_size))
    return out


def run_trial(trial, train, valid, device, epochs):
    torch.manual_seed(7)
    net = nn.Sequential(nn.Linear(40, trial["width"]), nn.SiLU(), nn.Linear(trial["width"], 1)).to(device)
    model = DDP(net, device_ids=[device.index])
    opt = torch.optim.Adam(model.parameters(), lr=trial["lr"])
    for epoch in range(epochs):
        train.sampler.set_epoch(epoch)
        for x, y in train:
            opt.zero_grad(set_to_none=True)
            nn.functional.mse_loss(model(x.to(device)).squeeze(-1), y.to(device)).backward()
            opt.step()
    acc = torch.zeros(2, device=device)
    with torch.no_grad():
        for x, y in valid:
            acc[0] += (net(x.to(device)).squeeze(-1) - y.to(device)).square().sum()
            acc[1] += len(x)
    dist.all_reduce(acc)
    return (acc[0] / acc[1]).item()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("data")
    ap.add_argument("--budget", type=int, default=20)
    ap.add_argument("--epochs", type=int, default=5)
    args = ap.parse_args()
    dist.init_process_group("nccl")
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    train, valid = loaders(args.data, 256)
    plan = TrialPlan("trials.json", args.budget)
    while True:
        trial = plan.next()
        if trial is None:
            break
        plan.tell(trial, run_trial(trial, train, valid, device, args.epochs))
    if dist.get_rank() == 0:
        print(plan.best())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
