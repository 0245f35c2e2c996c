import logging
import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset, DistributedSampler

log = logging.getLogger(__name__)


class Shapes(Dataset):
    def __init__(self, n, size, classes):
        self.n, self.size, self.classes = n, size, classes

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        g = torch.Generator().manual_seed(i)
        s = self.size // 4
        return (torch.randn(3, self.size, self.size, generator=g),
                {"label": torch.randint(self.classes, (s, s), generator=g), "box": torch.rand(4, s, s, generator=g)})


class EpochHook:
    def before_epoch(self, runner):
        m = runner.model.module
        m.epoch = runner.epoch


class Runner:
    def __init__(self, model, cfg, hooks):
        self.cfg, self.hooks, self.epoch = cfg, hooks, 0
        data = Shapes(cfg.images, cfg.size, cfg.classes)
        self.sampler = DistributedSampler(data, seed=1)
        self.loader = DataLoader(data, cfg.batch, sampler=self.sampler, num_workers=cfg.workers, drop_last=True)
        self.model = DistributedDataParallel(model, gradient_as_bucket_view=True)
        self.opt = torch.optim.SGD(self.model.parameters(), lr=cfg.lr, momentum=0.9)

    def run(self):
        for self.epoch in range(self.cfg.epochs):
            self.sampler.set_epoch(self.epoch)
            for h in self.hooks:
                h.before_epoch(self)
            for it, (image, target) in enumerate(self.loader):
                terms = self.model(image, target)
                loss = sum(terms.values())
                self.opt.zero_grad(set_to_none=True)
                loss.backward()
                self.opt.step()
            if dist.get_rank() == 0:
                log.info("epoch %d it %d %s", self.epoch, it, {k: round(v.item(), 3) for k, v in terms.items()})
