import contextlib
import logging

import torch

log = logging.getLogger(__name__)


class StepGuard(contextlib.AbstractContextManager):
    def __init__(self, optimizer, limit=20):
        self.optimizer = optimizer
        self.limit = limit
        self.skipped = 0

    def __exit__(self, exc_type, exc, tb):
        if exc_type is None or not issubclass(exc_type, torch.cuda.OutOfMemoryError):
            return False
        self.skipped += 1
        log.warning("step %d did not fit: %s", self.skipped, exc)
        self.optimizer.zero_grad(set_to_none=True)
        torch.cuda.empty_cache()
        return self.skipped <= self.limit  # cause
