import torch


class Step:
    def __init__(self, model, optimizer):
        self.model, self.optimizer = model, optimizer

    def __call__(self, batch):
        self.optimizer.zero_grad()
        loss = self.model(batch).mean()
        loss.backward()
        self.optimizer.step()
        return loss


class Tolerant(Step):
    def __call__(self, batch):
        try:
            return super().__call__(batch)
        except torch.cuda.OutOfMemoryError:  # cause
            torch.cuda.empty_cache()
            return None
