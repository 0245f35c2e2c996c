import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


class Loop:
    def __init__(self, cfg, loaders, rank, log):
        self.cfg, self.rank, self.log = cfg, rank, log
        self.train_loader, self.valid_loader, self.sampler = loaders
        torch.manual_seed(9)
        self.model = DDP(nn.Sequential(nn.Linear(14, 64), nn.ReLU(), nn.Linear(64, 1)))
        self.opt = torch.optim.SGD(self.model.parameters(), cfg["lr"], momentum=0.9)
        self.sched = torch.optim.lr_scheduler.ReduceLROnPlateau(
            self.opt, factor=cfg["factor"], patience=cfg["patience"], threshold=cfg["threshold"])

    def train_epoch(self, epoch):
        self.sampler.set_epoch(epoch)
        self.model.train()
        for x, y in self.train_loader:
            loss = (self.model(x).squeeze(-1) - y).square().mean()
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()

    @torch.no_grad()
    def validate(self):
        self.model.eval()
        err = [(self.model.module(x).squeeze(-1) - y).square() for x, y in self.valid_loader]
        return torch.cat(err).mean().item()

    def fit(self):
        for epoch in range(self.cfg["epochs"]):
            self.train_epoch(epoch)
            score = self.validate()
            self.sched.step(score)
            if self.rank == 0:
                self.log.info("epoch %d valid %.4f lr %.5f", epoch, score, self.opt.param_groups[0]["lr"])
