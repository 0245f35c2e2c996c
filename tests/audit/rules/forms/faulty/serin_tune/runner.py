import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler


class Runner:
    def __init__(self, make_net, train, val, lr, seed=0):
        self.device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
        torch.cuda.set_device(self.device)
        dist.init_process_group("nccl", device_id=self.device)  # cause
        torch.manual_seed(seed)
        self.net = DistributedDataParallel(make_net().to(self.device), device_ids=[self.device.index])
        self.opt = torch.optim.AdamW(self.net.parameters(), lr=lr)
        self.order = DistributedSampler(train, seed=seed)
        self.train_loader = DataLoader(train, 256, sampler=self.order)
        self.val_loader = DataLoader(val, 256, sampler=DistributedSampler(val, shuffle=False))

    @property
    def chief(self):
        return dist.get_rank() == 0

    def fit(self, epochs):
        for epoch in range(epochs):
            self.order.set_epoch(epoch)
            for x, y in self.train_loader:
                loss = nn.functional.cross_entropy(self.net(x.to(self.device)), y.to(self.device))
                self.opt.zero_grad(set_to_none=True)
                loss.backward()
                self.opt.step()
        return self

    @torch.no_grad()
    def score(self):
        self.net.eval()
        n = torch.zeros(2, device=self.device)
        for x, y in self.val_loader:
            n[0] += (self.net(x.to(self.device)).argmax(1) == y.to(self.device)).sum()
            n[1] += y.numel()
        dist.all_reduce(n)
        self.net.train()
        return (n[0] / n[1]).item()
