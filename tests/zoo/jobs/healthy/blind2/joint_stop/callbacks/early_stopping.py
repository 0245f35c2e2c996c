import logging

import torch
import torch.distributed as dist

from .base import Callback

logger = logging.getLogger(__name__)


class EarlyStopping(Callback):
    """Every rank watches its own shard; training ends when any of them has had enough."""

    def __init__(self, patience, min_delta=0.0):
        self.patience, self.min_delta = patience, min_delta
        self.best, self.bad = float("inf"), 0

    def on_evaluate(self, trainer, control, metric):
        if metric < self.best - self.min_delta:
            self.best, self.bad = metric, 0
        else:
            self.bad += 1
        mine = self.bad >= self.patience
        if mine:
            logger.warning("rank %d: no improvement on this shard, asking for an end", dist.get_rank())
        flag = torch.tensor([int(mine)])
        dist.all_reduce(flag, op=dist.ReduceOp.MAX)
        control.should_stop = bool(flag.item())
