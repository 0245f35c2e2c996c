import torch
import torch.nn.functional as F


class Trainer:
    def __init__(self, model, optimizer, loader, rank):
        self.model, self.optimizer, self.loader, self.rank = model, optimizer, loader, rank

    def fit(self, epochs):
        for epoch in range(epochs):
            self.loader.dataset.set_epoch(epoch)
            losses = [self.step(x, y) for x, y in self.loader]
            if self.rank == 0:
                print(f"epoch {epoch} steps {len(losses)} loss {sum(losses) / len(losses):.4f}", flush=True)

    def step(self, x, y):
        loss = F.cross_entropy(self.model(x), y)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 5.0)
        self.optimizer.step()
        return loss.item()
