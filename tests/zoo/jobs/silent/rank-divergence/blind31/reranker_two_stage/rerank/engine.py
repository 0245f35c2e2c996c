import torch
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP

from .model import mrr


def listwise(scores, click, margin):
    if margin <= 0:
        return F.cross_entropy(scores, click)
    pos = scores.gather(1, click[:, None])
    hinge = (margin + scores - pos).clamp(min=0)
    return (hinge.sum(1) - margin).mean() / scores.size(1)


@torch.no_grad()
def validate(model, loader):
    model.eval()
    values = []
    for user, items, click in loader:
        values.append(mrr(model(user, items), click))
    model.train()
    return {"val_mrr": torch.cat(values).mean().item()}


class Stage:
    def __init__(self, name, model, lr, epochs, margin=0.0):
        self.name, self.model, self.epochs, self.margin = name, model, epochs, margin
        self.opt = torch.optim.Adam(model.parameters(), lr=lr)

    def run(self, train, val, log, best=None):
        for epoch in range(self.epochs):
            train.sampler.set_epoch(epoch)
            total = 0.0
            for user, items, click in train:
                loss = listwise(self.model(user, items), click, self.margin)
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()
                total += loss.item()
            metrics = validate(self.model.module, val)
            if best is not None:
                best.on_validation_end(self.model.module, epoch, metrics)
            log(f"{self.name} epoch {epoch} loss {total / len(train):.4f} val_mrr {metrics['val_mrr']:.4f}")


def wrap(module):
    return DDP(module)
