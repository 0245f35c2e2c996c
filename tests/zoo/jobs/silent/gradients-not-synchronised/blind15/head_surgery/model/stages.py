import logging

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel

log = logging.getLogger("stages")


def unwrap(model):
    return model.module if isinstance(model, DistributedDataParallel) else model


class Stage:
    def __init__(self, name, classes, epochs, lr, labels):
        self.name, self.classes, self.epochs, self.lr, self.labels = name, classes, epochs, lr, labels

    def prepare(self, model):
        if unwrap(model).head is not None and self.name != "coarse":
            unwrap(model).reset_classifier(self.classes)
        groups = [{"params": unwrap(model).backbone.parameters(), "lr": self.lr * (1.0 if self.name == "coarse" else 0.1)},
                  {"params": unwrap(model).head.parameters(), "lr": self.lr}]
        return torch.optim.AdamW(groups)

    def run(self, model, loader):
        opt = self.prepare(model)
        for epoch in range(self.epochs):
            loader.sampler.set_epoch(epoch)
            hits = seen = 0
            for image, labels in loader:
                y = labels[self.labels]
                out = model(image)
                loss = nn.functional.cross_entropy(out, y)
                opt.zero_grad()
                loss.backward()
                opt.step()
                hits, seen = hits + (out.argmax(1) == y).sum().item(), seen + len(y)
            log.info("%s epoch %d accuracy %.3f", self.name, epoch, hits / seen)
