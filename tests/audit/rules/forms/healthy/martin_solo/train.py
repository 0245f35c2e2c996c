import os
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from solo import SoloEval


def main():
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", device_id=device, timeout=timedelta(hours=1))
    torch.manual_seed(18)
    blob = torch.load("prices.pt", map_location="cpu", weights_only=True)
    train, val = TensorDataset(blob["x"], blob["y"]), TensorDataset(blob["vx"], blob["vy"])
    order = DistributedSampler(train)
    loader = DataLoader(train, 256, sampler=order)
    net = nn.Sequential(nn.Linear(blob["x"].size(1), 400), nn.ReLU(), nn.Dropout(0.1), nn.Linear(400, 1)).to(device)
    net = DistributedDataParallel(net, device_ids=[device.index])
    opt = torch.optim.AdamW(net.parameters(), lr=1e-3)
    judge = SoloEval(DataLoader(val, 1024), device)
    for epoch in range(100):
        order.set_epoch(epoch)
        for x, y in loader:
            loss = nn.functional.l1_loss(net(x.to(device)).squeeze(-1), y.to(device))
            opt.zero_grad(set_to_none=True)
            loss.backward()
            opt.step()
        if judge(net):
            break
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
