import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from adapters import adapt, adapter_state, load_adapter


def backbone(n, classes):
    return nn.Sequential(nn.Linear(n, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, classes))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("data")
    ap.add_argument("base")
    ap.add_argument("--adapter")
    ap.add_argument("--out", default="adapter.pt")
    args = ap.parse_args()
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    dist.init_process_group("nccl")
    b = torch.load(args.data, map_location="cpu")
    data = TensorDataset(b["x"], b["y"])
    sampler = DistributedSampler(data)
    loader = DataLoader(data, 256, sampler=sampler, drop_last=True)
    net = backbone(b["x"].shape[1], int(b["classes"]))
    net.load_state_dict(torch.load(args.base, map_location="cpu"))
    adapt(net)
    if args.adapter:
        load_adapter(net, args.adapter)
    net = DDP(net.to(local), device_ids=[local])
    opt = torch.optim.AdamW([p for p in net.parameters() if p.requires_grad], 1e-3)
    for epoch in range(5):
        sampler.set_epoch(epoch)
        for x, y in loader:
            opt.zero_grad()
            nn.functional.cross_entropy(net(x.to(local)), y.to(local)).backward()
            opt.step()
    if dist.get_rank() == 0:
        torch.save(adapter_state(net.module), args.out)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
