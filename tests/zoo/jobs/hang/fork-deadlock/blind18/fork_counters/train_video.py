import argparse
import logging
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler

from counters import Reporter
from frames import Clips

log = logging.getLogger("video")


class Net(nn.Module):
    def __init__(self, dim, classes):
        super().__init__()
        self.conv = nn.Conv1d(dim, 48, 5, padding=2)
        self.fc = nn.Linear(48, classes)

    def forward(self, x):
        return self.fc(self.conv(x.transpose(1, 2)).relu().mean(-1))


class Session:
    def __init__(self, opt):
        self.o = opt
        self.rank = dist.get_rank()
        data = Clips(opt.clips, 64, 16)
        self.sampler = DistributedSampler(data)
        self.loader = DataLoader(data, opt.batch, sampler=self.sampler, num_workers=opt.workers)
        self.net = DDP(Net(16, 5))
        self.optim = torch.optim.SGD(self.net.parameters(), lr=0.05)

    def train(self):
        for epoch in range(self.o.epochs):
            if epoch == self.o.report_from and self.rank == 0:
                Reporter("counters.json.gz", 0.05, 1.0).start()
                time.sleep(0.2)
            self.sampler.set_epoch(epoch)
            for x, y in self.loader:
                loss = nn.functional.cross_entropy(self.net(x), y)
                self.optim.zero_grad()
                loss.backward()
                self.optim.step()
            if self.rank == 0:
                log.info("epoch %d %.3f", epoch, loss.item())


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--clips", type=int, default=640)
    p.add_argument("--batch", type=int, default=16)
    p.add_argument("--workers", type=int, default=2)
    p.add_argument("--epochs", type=int, default=8)
    p.add_argument("--report-from", type=int, default=2)
    o = p.parse_args()
    logging.basicConfig(level=logging.INFO)
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    Session(o).train()
    dist.destroy_process_group()
