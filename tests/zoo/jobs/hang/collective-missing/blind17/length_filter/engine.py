import logging

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

log = logging.getLogger("engine")


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(16, 40, batch_first=True)
        self.out = nn.Linear(40, 4)

    def forward(self, x, lens):
        h, _ = self.rnn(x)
        return self.out(h[torch.arange(len(x)), lens - 1])


class Engine:
    def __init__(self, dm, epochs):
        torch.manual_seed(0)
        self.dm, self.epochs = dm, epochs
        self.model = DDP(Classifier())
        self.opt = torch.optim.Adam(self.model.parameters(), 1e-3)

    def run_epoch(self, epoch):
        self.dm.set_epoch(epoch)
        last = float("nan")
        for x, lens, y in self.dm.loader():
            loss = nn.functional.cross_entropy(self.model(x, lens), y)
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            last = loss.item()
        return last

    def fit(self):
        for epoch in range(self.epochs):
            loss = self.run_epoch(epoch)
            self.save(epoch)
            if dist.get_rank() == 0:
                log.info("epoch %d (%s) loss %.4f", epoch, self.dm.train.stage.name, loss)

    def save(self, epoch):
        if dist.get_rank() == 0:
            torch.save({"model": self.model.module.state_dict(), "opt": self.opt.state_dict()}, f"ck{epoch}.pt")
        dist.barrier()
