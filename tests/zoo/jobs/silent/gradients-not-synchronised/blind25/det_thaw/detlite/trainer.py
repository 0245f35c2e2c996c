import torch
import torch.distributed as dist
from torch.nn import functional as F


class SimpleTrainer:
    def __init__(self, model, loader, optimizer, hooks):
        self.model, self.loader, self.optimizer, self.hooks = model, loader, optimizer, hooks
        self.iter = 0

    def log(self, text):
        if dist.get_rank() == 0:
            print(text, flush=True)

    def _batches(self):
        epoch = 0
        while True:
            self.loader.sampler.set_epoch(epoch)
            yield from self.loader
            epoch += 1

    def train(self, max_iter):
        stream = self._batches()
        while self.iter < max_iter:
            for h in self.hooks:
                h.before_step(self)
            images, boxes, kinds = next(stream)
            pred, logits = self.model(images)
            loss = F.smooth_l1_loss(pred, boxes, beta=0.05) * 10 + F.cross_entropy(logits, kinds)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.iter += 1
            if self.iter % 40 == 0:
                self.log(f"iter {self.iter}: total_loss {loss.item():.4f}")

    @torch.no_grad()
    def test(self, data):
        images, boxes, kinds = data.tensors
        pred, logits = self.model.module(images)
        acc = (logits.argmax(1) == kinds).float().mean().item()
        self.log(f"box l1 {(pred - boxes).abs().mean().item():.4f} class acc {acc:.4f}")
