import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset, DistributedSampler

from schedule import Plan, make_optimizer, make_schedule


class Frames(Dataset):
    def __init__(self, path, past=6):
        self.past = past
        self.frames = torch.load(path, map_location="cpu", mmap=True, weights_only=True)

    def __len__(self):
        return self.frames.size(0) - self.past

    def __getitem__(self, i):
        clip = self.frames[i : i + self.past + 1].float()
        return clip[:-1], clip[-1:]


class Next(nn.Module):
    def __init__(self, past=6, width=96):
        super().__init__()
        self.f = nn.Sequential(
            nn.Conv2d(past, width, 5, padding=2), nn.GELU(),
            nn.Conv2d(width, width, 5, padding=4, dilation=2), nn.GELU(),
            nn.Conv2d(width, 1, 1),
        )

    def forward(self, x):
        return x[:, -1:] + self.f(x)


def main():
    plan = Plan(epochs=int(os.environ.get("EPOCHS", "24")))
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    dist.init_process_group("nccl")
    torch.manual_seed(77)
    frames = Frames("radar.pt")
    order = DistributedSampler(frames, drop_last=True)
    loader = DataLoader(frames, plan.batch, sampler=order, drop_last=True, num_workers=4, pin_memory=True)
    net = DistributedDataParallel(Next().cuda(local), device_ids=[local])
    opt = make_optimizer(net, plan)
    sched = make_schedule(opt, plan, loader)
    for epoch in range(plan.epochs):
        order.set_epoch(epoch)
        for past, future in loader:
            loss = nn.functional.mse_loss(net(past.cuda(non_blocking=True)), future.cuda(non_blocking=True))
            opt.zero_grad(set_to_none=True)
            loss.backward()
            opt.step()
            sched.step()
        if dist.get_rank() == 0:
            print(epoch, f"{loss.item():.5f}", f"{sched.get_last_lr()[0]:.2e}", flush=True)
    if dist.get_rank() == 0:
        torch.save(net.module.state_dict(), "next.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
