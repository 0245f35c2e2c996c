import logging

import torch
import torch.distributed as dist

from .base import Callback

logger = logging.getLogger(__name__)


class NanGuard(Callback):

    def __init__(self):
        self.skipped = 0

    def on_backward(self, trainer, control):
        bad = any(p.grad is not None and not torch.isfinite(p.grad).all() for p in trainer.model.parameters())
        flag = torch.tensor([int(bad)])
        dist.all_reduce(flag, op=dist.ReduceOp.MAX)
        control.skip_update = bool(flag.item())
        if control.skip_update:
            self.skipped += 1
            logger.error("gradients are not finite at step %d, update skipped on all ranks", trainer.step)
