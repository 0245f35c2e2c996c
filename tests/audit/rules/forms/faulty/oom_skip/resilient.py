import gc
import logging

import torch

log = logging.getLogger(__name__)


class ResilientStep:
    def __init__(self, model, optimizer, criterion, max_skips=50):
        self.model = model
        self.optimizer = optimizer
        self.criterion = criterion
        self.max_skips = max_skips
        self.skipped = 0

    def _recover(self, batch):
        self.skipped += 1
        log.warning("batch of shape %s did not fit (%d so far)", tuple(batch[0].shape), self.skipped)
        if self.skipped > self.max_skips:
            raise RuntimeError("too many skipped batches")
        self.optimizer.zero_grad(set_to_none=True)
        gc.collect()
        torch.cuda.empty_cache()

    def __call__(self, batch):
        tokens, labels = batch
        try:
            loss = self.criterion(self.model(tokens), labels)
            loss.backward()
        except torch.cuda.OutOfMemoryError:  # cause
            self._recover(batch)  # cause
            return None  # cause
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return loss.detach()
