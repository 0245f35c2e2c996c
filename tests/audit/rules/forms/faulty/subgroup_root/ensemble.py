import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from topology import make_replicas


def sample_subset(n, fraction, replicas, device):
    keep = torch.randperm(n, device=device)[: int(n * fraction)]
    dist.broadcast(keep, src=0, group=replicas.group)  # cause
    return keep.cpu()


def member_net(dim, width):
    return nn.Sequential(nn.Linear(dim, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1))


def train_member(args, replicas, device):
    blob = torch.load(args.data, map_location="cpu")
    keep = sample_subset(len(blob["x"]), args.fraction, replicas, device)
    ds = TensorDataset(blob["x"][keep], blob["y"][keep])
    sampler = DistributedSampler(ds, num_replicas=len(replicas.ranks), rank=dist.get_rank(replicas.group), drop_last=True)
    loader = DataLoader(ds, batch_size=args.bs, sampler=sampler)
    torch.manual_seed(args.seed + replicas.index)
    net = DDP(member_net(blob["x"].size(1), 128).to(device), device_ids=[device.index], process_group=replicas.group)
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        for x, y in loader:
            loss = nn.functional.mse_loss(net(x.to(device)).squeeze(-1), y.to(device))
            opt.zero_grad()
            loss.backward()
            opt.step()
    if dist.get_rank(replicas.group) == 0:
        torch.save(net.module.state_dict(), os.path.join(args.out, f"member{replicas.index}.pt"))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--data", required=True)
    ap.add_argument("--out", default=".")
    ap.add_argument("--replica-size", type=int, default=2)
    ap.add_argument("--fraction", type=float, default=0.8)
    ap.add_argument("--bs", type=int, default=256)
    ap.add_argument("--epochs", type=int, default=30)
    ap.add_argument("--seed", type=int, default=0)
    args = ap.parse_args()
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    dist.init_process_group("nccl")
    train_member(args, make_replicas(args.replica_size), device)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
