import torch
import torch.distributed as dist


class Patience:
    """Rank 0 watches the validation loss; its decision is shared."""

    def __init__(self, patience, min_delta):
        self.patience, self.min_delta = patience, min_delta
        self.best, self.bad = float("inf"), 0

    def should_stop(self, loss):
        flag = torch.zeros(1, dtype=torch.int64)
        if dist.get_rank() == 0:
            if loss < self.best - self.min_delta:
                self.best, self.bad = loss, 0
            else:
                self.bad += 1
            flag[0] = int(self.bad >= self.patience)
        dist.broadcast(flag, src=0)
        return bool(flag.item())
