import copy

import torch
import torch.nn.functional as F
from torch.utils.data import ConcatDataset, DataLoader

from .net import IncrementalNet
from .stream import Memory


class Learner:
    def __init__(self, args, first):
        self.args = args
        self.net = IncrementalNet(width=args.width)
        self.net.grow(first)
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=args.lr, momentum=0.9, weight_decay=2e-4)
        self.memory, self.old = Memory(args.exemplars), None

    def begin_task(self, new_classes):
        if self.old is not None:
            self.net.grow(self.net.classes + new_classes)
        for group in self.optimizer.param_groups:
            group["lr"] = self.args.lr

    def loss(self, x, y):
        logits = self.net(x)
        loss = F.cross_entropy(logits, y)
        if self.old is not None:
            with torch.no_grad():
                target = (self.old(x) / self.args.temperature).softmax(1)
            known = self.old.classes
            student = (logits[:, :known] / self.args.temperature).log_softmax(1)
            loss = loss + self.args.kd * F.kl_div(student, target, reduction="batchmean")
        return loss

    def fit(self, train):
        data = ConcatDataset([train, self.memory.dataset()]) if self.memory.store else train
        loader = DataLoader(data, self.args.batch, shuffle=True)
        scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(self.optimizer, self.args.epochs)
        self.net.train()
        for epoch in range(self.args.epochs):
            total = 0.0
            for x, y in loader:
                loss = self.loss(x, y)
                self.net.zero_grad()
                loss.backward()
                self.optimizer.step()
                total += loss.item()
            scheduler.step()
            if epoch % 5 == 0 or epoch + 1 == self.args.epochs:
                print(f"    epoch {epoch:2d} loss {total / len(loader):.4f}", flush=True)

    def end_task(self, train):
        self.memory.add(train)
        self.old = copy.deepcopy(self.net).eval()
        self.old.requires_grad_(False)

    @torch.no_grad()
    def accuracy(self, test):
        self.net.eval()
        hits = sum((self.net(x).argmax(1) == y).sum().item() for x, y in DataLoader(test, 256))
        return hits / len(test)
