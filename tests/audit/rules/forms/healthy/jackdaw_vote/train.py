import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from signals import Stopper

LOG_EVERY = 25


def save(net, opt, epoch, path="jackdaw.pt"):
    if dist.get_rank() == 0:
        torch.save({"net": net.module.state_dict(), "opt": opt.state_dict(), "epoch": epoch}, path + ".tmp")
        os.replace(path + ".tmp", path)
    dist.barrier()


def run():
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", device_id=device)
    torch.manual_seed(4)
    blob = torch.load("tiles.pt", map_location="cpu", weights_only=True)
    ds = TensorDataset(blob["x"], blob["y"])
    order = DistributedSampler(ds, drop_last=True)
    loader = DataLoader(ds, 64, sampler=order, drop_last=True, pin_memory=True)
    net = nn.Sequential(nn.Conv2d(3, 64, 3, 2), nn.ReLU(), nn.Conv2d(64, 64, 3, 2), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 12))
    net = DistributedDataParallel(net.to(device), device_ids=[device.index])
    opt = torch.optim.AdamW(net.parameters(), lr=1e-3)
    stopper, step = Stopper(device), 0
    for epoch in range(50):
        order.set_epoch(epoch)
        for x, y in loader:
            loss = nn.functional.cross_entropy(net(x.to(device, non_blocking=True)), y.to(device, non_blocking=True))
            opt.zero_grad(set_to_none=True)
            loss.backward()
            opt.step()
            step += 1
            if step % LOG_EVERY == 0:
                shown = loss.detach().clone()
                dist.all_reduce(shown, op=dist.ReduceOp.AVG)
                if dist.get_rank() == 0:
                    print(epoch, step, f"{shown.item():.4f}", flush=True)
            if stopper.agreed():
                save(net, opt, epoch)
                dist.destroy_process_group()
                return
        save(net, opt, epoch)
    dist.destroy_process_group()


if __name__ == "__main__":
    run()
