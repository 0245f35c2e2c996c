import math

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler

from boxes import BoxDataset
from checkpoints import restore, save
from net import BoxNet


def parameter_groups(model, weight_decay):
    decay = [p for p in model.parameters() if p.ndim > 1]
    plain = [p for p in model.parameters() if p.ndim <= 1]
    return [{"params": plain}, {"params": decay, "weight_decay": weight_decay}]


def one_cycle(hyp):
    """Cosine from 1 down to lrf over all epochs."""
    return lambda x: ((1 + math.cos(x * math.pi / hyp["epochs"])) / 2) * (1 - hyp["lrf"]) + hyp["lrf"]


class Engine:
    def __init__(self, hyp, checkpoint):
        self.hyp, self.checkpoint = hyp, checkpoint
        self.rank = dist.get_rank()
        torch.manual_seed(0)
        train = BoxDataset(hyp["images"], seed=1)
        self.val = BoxDataset(256, seed=2)
        self.sampler = DistributedSampler(train)
        self.loader = DataLoader(train, batch_size=hyp["batch_size"], sampler=self.sampler)
        net = BoxNet(hyp["width"])
        self.optimizer = torch.optim.SGD(
            parameter_groups(net, hyp["weight_decay"]), lr=hyp["lr0"], momentum=hyp["momentum"], nesterov=True
        )
        self.start, self.best = restore(checkpoint, net, self.optimizer)
        self.scheduler = torch.optim.lr_scheduler.LambdaLR(self.optimizer, lr_lambda=one_cycle(hyp))
        self.model = DistributedDataParallel(net)

    def train_epoch(self, epoch):
        self.model.train()
        self.sampler.set_epoch(epoch)
        for images, boxes in self.loader:
            loss = F.smooth_l1_loss(self.model(images), boxes, beta=0.05)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
        self.scheduler.step()

    @torch.no_grad()
    def validate(self):
        self.model.eval()
        errors = [(self.model.module(x) - y).abs().mean().item() for x, y in DataLoader(self.val, batch_size=64)]
        return sum(errors) / len(errors)

    def run(self, until):
        for epoch in range(self.start, until):
            self.train_epoch(epoch)
            error = self.validate()
            self.best = min(self.best, error)
            if self.rank == 0:
                save(self.checkpoint, self.model.module, self.optimizer, epoch, self.best)
                print(f"epoch {epoch + 1}/{self.hyp['epochs']} error {error:.4f} best {self.best:.4f}", flush=True)
            dist.barrier()
