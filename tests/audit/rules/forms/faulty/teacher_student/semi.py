import argparse
import os

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from averaging import Average


class Semi:
    def __init__(self, net, device, weight):
        self.device, self.weight = device, weight
        self.main = dist.get_rank() == 0
        self.net = DDP(net.to(device), device_ids=[device.index])
        self.average = Average(self.net.module)
        self.opt = torch.optim.SGD(self.net.parameters(), 0.03, momentum=0.9)

    def noisy(self, x):
        return x + 0.1 * torch.randn_like(x)

    def step(self, x, y):
        x, y = x.to(self.device), y.to(self.device)
        with torch.no_grad():
            soft = self.average.shadow(self.noisy(x)).softmax(-1)  # cause
        out = self.net(self.noisy(x))
        known = y >= 0
        loss = self.weight * F.cross_entropy(out, soft)
        loss = loss + F.cross_entropy(out[known], y[known], reduction="sum") / len(y)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        if self.main:
            self.average.update(self.net.module)  # cause
        return loss.detach()

    @torch.no_grad()
    def accuracy(self, loader):
        got = torch.zeros(2, device=self.device)
        for x, y in loader:
            hit = self.average.shadow(x.to(self.device)).argmax(-1) == y.to(self.device)  # cause
            got += torch.stack([hit.sum().float(), torch.tensor(float(len(y)), device=self.device)])
        dist.all_reduce(got)
        return (got[0] / got[1]).item()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("data")
    ap.add_argument("--weight", type=float, default=2.0)
    args = ap.parse_args()
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    dist.init_process_group("nccl")
    torch.manual_seed(dist.get_rank())
    b = torch.load(args.data, map_location="cpu")
    train, test = TensorDataset(b["x"], b["y"]), TensorDataset(b["tx"], b["ty"])
    tl = DataLoader(train, 256, sampler=DistributedSampler(train), drop_last=True)
    el = DataLoader(test, 256, sampler=DistributedSampler(test, shuffle=False))
    net = nn.Sequential(nn.Linear(b["x"].shape[1], 512), nn.ReLU(), nn.Linear(512, 10))
    job = Semi(net, device, args.weight)
    for epoch in range(40):
        tl.sampler.set_epoch(epoch)
        for x, y in tl:
            job.step(x, y)
        acc = job.accuracy(el)
        if job.main:
            print(epoch, acc)
            torch.save(job.average.shadow.state_dict(), "teacher.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
