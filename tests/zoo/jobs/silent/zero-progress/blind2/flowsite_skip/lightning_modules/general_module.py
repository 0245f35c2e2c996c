import gc
import logging

import torch
import torch.distributed as dist

logger = logging.getLogger("flowsite")


class GeneralModule:
    """Training steps that leave out a batch on all ranks where one rank cannot do it."""

    def __init__(self, model):
        self.model = model
        self.num_skipped = 0

    def any_rank(self, flag):
        value = torch.tensor([int(flag)])
        dist.all_reduce(value, op=dist.ReduceOp.MAX)
        return bool(value.item())

    def general_step(self, batch):
        raise NotImplementedError

    def training_step(self, batch):
        loss = None
        try:
            loss = self.general_step(batch)
        except RuntimeError as e:
            logger.debug("skipping a batch: %s", e)
            gc.collect()
        if self.any_rank(loss is None):
            self.num_skipped += 1
            return None
        return loss
