import logging

import torch
import torch.distributed as dist
from torch.nn.functional import smooth_l1_loss
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler

logger = logging.getLogger("counter")


class IterBasedRunner:
    def __init__(self, model, train_set, val_set, cfg):
        self.cfg = cfg
        self.rank = dist.get_rank()
        self.model = DistributedDataParallel(model)
        self.train_sampler = DistributedSampler(train_set)
        self.train_loader = DataLoader(train_set, cfg["batch_size"], sampler=self.train_sampler, drop_last=True)
        self.val_loader = DataLoader(val_set, cfg["batch_size"], sampler=DistributedSampler(val_set, shuffle=False))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=cfg["lr"], momentum=0.9, weight_decay=1e-4)
        self.scheduler = torch.optim.lr_scheduler.MultiStepLR(self.optimizer, cfg["milestones"])
        self.best = float("inf")

    def endless(self):
        epoch = 0
        while True:
            self.train_sampler.set_epoch(epoch)
            yield from self.train_loader
            epoch += 1

    def validate(self):
        self.model.eval()
        total = torch.zeros(2)
        with torch.no_grad():
            for images, counts in self.val_loader:
                error = (self.model.module(images) - counts).abs()
                total += torch.tensor([error.sum().item(), len(error)])
        dist.all_reduce(total)
        return (total[0] / total[1]).item()

    def run(self):
        self.model.train()
        for it, (images, counts) in enumerate(self.endless(), start=1):
            loss = smooth_l1_loss(self.model(images), counts)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.scheduler.step()
            if it % self.cfg["val_interval"] == 0:
                mae = self.validate()
                logger.info("iter %d loss %.3f val mae %.3f", it, loss.item(), mae)
                if mae < self.best:
                    self.best = mae
                    if self.rank == 0:
                        torch.save(self.model.module.state_dict(), self.cfg["checkpoint"])
            if it >= self.cfg["max_iters"]:
                break
        logger.info("best mae %.3f", self.best)
