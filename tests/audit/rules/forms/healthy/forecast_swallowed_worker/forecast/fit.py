import os

import numpy as np
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Dataset, DistributedSampler


class Windows(Dataset):
    def __init__(self, path, context, horizon):
        self.values = np.load(path).astype(np.float32)
        self.context, self.horizon = context, horizon

    def __len__(self):
        return len(self.values) - self.context - self.horizon + 1

    def __getitem__(self, i):
        mid = i + self.context
        return torch.from_numpy(self.values[i:mid]), torch.from_numpy(self.values[mid : mid + self.horizon])


class Fitter:
    def __init__(self, args):
        self.args = args
        cuda = torch.cuda.is_available()
        self.device = torch.device("cuda", int(os.environ["LOCAL_RANK"])) if cuda else torch.device("cpu")
        net = nn.Sequential(nn.Linear(args.context, 512), nn.ReLU(), nn.Linear(512, args.horizon)).to(self.device)
        self.net = DDP(net, device_ids=[self.device.index] if cuda else None)
        self.opt = torch.optim.AdamW(self.net.parameters(), lr=1e-3)
        data = Windows(args.series, args.context, args.horizon)
        self.sampler = DistributedSampler(data)
        self.loader = DataLoader(data, 256, sampler=self.sampler, drop_last=True)

    def run(self):
        for epoch in range(self.args.epochs):
            self.sampler.set_epoch(epoch)
            for x, y in self.loader:
                loss = nn.functional.smooth_l1_loss(self.net(x.to(self.device)), y.to(self.device))
                if not torch.isfinite(loss):
                    raise FloatingPointError(f"loss {loss.item()} in epoch {epoch}")
                self.opt.zero_grad(set_to_none=True)
                loss.backward()
                self.opt.step()
            if dist.get_rank() == 0:
                torch.save(self.net.module.state_dict(), self.args.out)
