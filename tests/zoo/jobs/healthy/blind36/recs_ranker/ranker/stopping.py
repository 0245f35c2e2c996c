"""Early stopping; the first rank judges and tells the rest."""
import math

import torch
import torch.distributed as dist


class EarlyStopper:
    def __init__(self, patience, min_delta):
        self.patience, self.min_delta = patience, min_delta
        self.best, self.bad, self.improved = -math.inf, 0, False

    def update(self, score):
        """score is known to rank 0 only and None elsewhere"""
        verdict = torch.zeros(2, dtype=torch.int64)
        if dist.get_rank() == 0:
            self.improved = score > self.best + self.min_delta
            if self.improved:
                self.best, self.bad = score, 0
            else:
                self.bad += 1
            verdict[0] = self.bad >= self.patience
            verdict[1] = self.improved
        dist.broadcast(verdict, src=0)
        self.improved = bool(verdict[1])
        return bool(verdict[0])
