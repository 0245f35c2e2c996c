import functools
import logging

import torch

log = logging.getLogger("speech.steps")


def resilient(fn):
    """Retry bookkeeping shared by the train and finetune steps."""

    @functools.wraps(fn)
    def inner(self, batch):
        try:
            return fn(self, batch)  # cause
        except torch.cuda.OutOfMemoryError:  # cause
            self.skipped += 1
            self.optimizer.zero_grad(set_to_none=True)
            torch.cuda.empty_cache()
            log.warning("batch of %d frames did not fit", batch["frames"].shape[1])
            return None  # cause

    return inner
