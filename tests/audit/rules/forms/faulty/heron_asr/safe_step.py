import gc
import logging

import torch

log = logging.getLogger(__name__)


class SafeStep:
    def __init__(self, model, opt, scaler, loss_fn, clip=1.0, budget=20):
        self.model, self.opt, self.scaler, self.loss_fn = model, opt, scaler, loss_fn
        self.clip, self.budget, self.dropped = clip, budget, 0

    def _attempt(self, x, y):
        with torch.autocast("cuda", dtype=torch.float16):
            loss = self.loss_fn(self.model(x), y)
        self.scaler.scale(loss).backward()
        self.scaler.unscale_(self.opt)
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.clip)
        self.scaler.step(self.opt)
        self.scaler.update()
        return loss.detach()

    def run(self, x, y):
        self.opt.zero_grad(set_to_none=True)
        try:  # cause
            return self._attempt(x, y)  # cause
        except torch.OutOfMemoryError:  # cause
            self.dropped += 1
            log.warning("batch %s dropped (%d so far)", tuple(x.shape), self.dropped)
        if self.dropped > self.budget:
            raise RuntimeError("too many dropped batches")
        self.opt.zero_grad(set_to_none=True)
        gc.collect()
        torch.cuda.empty_cache()  # cause
        return None  # cause
