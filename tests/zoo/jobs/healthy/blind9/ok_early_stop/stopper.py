import torch.distributed as dist


class Stopper:
    def __init__(self, patience):
        self.patience, self.best, self.bad = patience, float("inf"), 0

    def __call__(self, loss):
        self.bad = 0 if loss < self.best - 1e-3 else self.bad + 1
        self.best = min(self.best, loss)
        return self.bad > self.patience


def agreed(stop):
    box = [stop if dist.get_rank() == 0 else None]
    dist.broadcast_object_list(box, 0)
    return box[0]
