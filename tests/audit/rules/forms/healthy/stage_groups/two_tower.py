import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from stages import StageGroups, average_grads, sync_stage


def tower(n_in):
    return nn.Sequential(nn.Linear(n_in, 512), nn.ReLU(), nn.Linear(512, 1))


def train_tower(stages, path, device, epochs):
    blob = torch.load(path, map_location="cpu")
    ds = TensorDataset(blob["x"], blob["y"])
    sampler = DistributedSampler(ds, num_replicas=dist.get_world_size(stages.group), rank=dist.get_rank(stages.group), drop_last=True)
    loader = DataLoader(ds, 256, sampler=sampler)
    net = tower(blob["x"].size(1)).to(device)
    sync_stage(net, stages)
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        for x, y in loader:
            loss = nn.functional.mse_loss(net(x.to(device)).squeeze(-1), y.to(device))
            opt.zero_grad()
            loss.backward()
            average_grads(net, stages)
            opt.step()
        if dist.get_rank() in stages.members[0]:
            dist.all_reduce(loss.detach(), op=dist.ReduceOp.AVG, group=stages.groups[0])
            if dist.get_rank() == stages.leader:
                print(f"epoch {epoch} query tower loss {loss.item():.4f}")
    if dist.get_rank() == stages.leader:
        torch.save(net.state_dict(), f"tower{stages.stage}.pt")


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--query", required=True)
    ap.add_argument("--item", required=True)
    ap.add_argument("--widths", type=int, nargs=2, default=[2, 6])
    ap.add_argument("--epochs", type=int, default=10)
    a = ap.parse_args()
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", device_id=device)
    stages = StageGroups(a.widths)
    train_tower(stages, a.query if stages.stage == 0 else a.item, device, a.epochs)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
