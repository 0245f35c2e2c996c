import torch
from torch.nn import functional as F


class Engine:
    def __init__(self, model, optimizer, scheduler, accumulate):
        self.model, self.optimizer, self.scheduler = model, optimizer, scheduler
        self.accumulate = accumulate
        self.updates = 0

    def fit_epoch(self, loader):
        self.model.train()
        total, seen = 0.0, 0
        for i, (wav, label) in enumerate(loader):
            loss = F.cross_entropy(self.model(wav), label)
            (loss / self.accumulate).backward()
            boundary = (i + 1) % self.accumulate == 0
            if boundary:
                torch.nn.utils.clip_grad_norm_(self.model.parameters(), 5.0)
                self.optimizer.step()
                self.optimizer.zero_grad(set_to_none=True)
                self.updates += 1
            self.scheduler.step()
            total += loss.item() * len(label)
            seen += len(label)
        return total / seen

    @torch.no_grad()
    def evaluate(self, loader):
        self.model.eval()
        good = n = 0
        for wav, label in loader:
            good += (self.model(wav).argmax(1) == label).sum().item()
            n += len(label)
        return good / n
