import functools
import logging

import torch

log = logging.getLogger("speech.steps")


def resilient(fn):
    """Retry bookkeeping shared by the train and finetune steps."""

    @functools.wraps(fn)
    def inner(self, batch):
        try:
            return fn(self, batch)
        except torch.cuda.OutOfMemoryError:
            self.skipped += 1
            log.warning("batch of %d frames did not fit", batch["frames"].shape[1])
            raise

    return inner
