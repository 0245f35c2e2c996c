import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--data", required=True)
    ap.add_argument("--lr", type=float, required=True)
    ap.add_argument("--out", required=True)
    a = ap.parse_args()
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    dist.init_process_group("nccl")
    torch.manual_seed(0)
    blob = torch.load(a.data, map_location="cpu", weights_only=True)
    ds = TensorDataset(blob["x"], blob["y"])
    order = DistributedSampler(ds)
    loader = DataLoader(ds, 128, sampler=order)
    net = nn.Sequential(nn.Linear(blob["x"].size(1), 256), nn.Tanh(), nn.Linear(256, 1)).cuda(local)
    net = DistributedDataParallel(net, device_ids=[local])
    opt = torch.optim.AdamW(net.parameters(), lr=a.lr)
    for epoch in range(30):
        order.set_epoch(epoch)
        for x, y in loader:
            loss = nn.functional.l1_loss(net(x.cuda(local)).squeeze(-1), y.cuda(local))
            opt.zero_grad(set_to_none=True)
            loss.backward()
            opt.step()
    if dist.get_rank() == 0:
        torch.save(net.module.state_dict(), a.out)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
