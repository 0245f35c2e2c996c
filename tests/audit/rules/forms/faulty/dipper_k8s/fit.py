import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--out", required=True)
    ap.add_argument("--data", default="/data/tab.pt")
    args = ap.parse_args()
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    dist.init_process_group("nccl")
    torch.manual_seed(8)
    t = torch.load(args.data, map_location="cpu", weights_only=True)
    ds = TensorDataset(t["x"], t["y"])
    order = DistributedSampler(ds)
    loader = DataLoader(ds, 256, sampler=order)
    net = nn.Sequential(nn.Linear(t["x"].size(1), 512), nn.ReLU(), nn.Linear(512, 1)).cuda(local)
    net = DistributedDataParallel(net, device_ids=[local])
    opt = torch.optim.Adam(net.parameters(), 1e-3)
    for epoch in range(25):
        order.set_epoch(epoch)
        for x, y in loader:
            opt.zero_grad()
            nn.functional.mse_loss(net(x.cuda(local)), y.cuda(local)).backward()
            opt.step()
    if dist.get_rank() == 0:
        torch.save(net.module.state_dict(), args.out)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
