import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from resnetish import build
from shadow import Shadow


@torch.no_grad()
def top1(model, loader, device):
    n = torch.zeros(2, device=device)
    for x, y in loader:
        y = y.to(device)
        n[0] += (model(x.to(device)).argmax(1) == y).sum()
        n[1] += y.numel()
    dist.all_reduce(n)
    return (n[0] / n[1]).item()


def main():
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", device_id=device)
    torch.manual_seed(14)
    blob = torch.load("cifar.pt", map_location="cpu", weights_only=True)
    train, test = TensorDataset(blob["x"], blob["y"]), TensorDataset(blob["tx"], blob["ty"])
    order = DistributedSampler(train, drop_last=True)
    loader = DataLoader(train, 128, sampler=order, drop_last=True, pin_memory=True)
    test_loader = DataLoader(test, 256, sampler=DistributedSampler(test, shuffle=False))
    net = nn.SyncBatchNorm.convert_sync_batchnorm(build(100)).to(device)
    shadow = Shadow(net)
    ddp = DistributedDataParallel(net, device_ids=[device.index])
    opt = torch.optim.SGD(ddp.parameters(), 0.1, 0.9, weight_decay=5e-4, nesterov=True)
    sched = torch.optim.lr_scheduler.OneCycleLR(opt, 0.4, epochs=30, steps_per_epoch=len(loader))
    for epoch in range(30):
        order.set_epoch(epoch)
        for x, y in loader:
            loss = nn.functional.cross_entropy(ddp(x.to(device, non_blocking=True)), y.to(device, non_blocking=True))
            opt.zero_grad(set_to_none=True)
            loss.backward()
            opt.step()
            sched.step()
            shadow.update(net)
        score = top1(shadow.model, test_loader, device)
        if dist.get_rank() == 0:
            print(epoch, f"{score:.4f}", flush=True)
            torch.save(shadow.state_dict(), "shadow.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
