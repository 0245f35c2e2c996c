"""An optimizer with a dynamic loss scale."""
import torch
import torch.distributed as dist


class DynamicLossScaler:
    def __init__(self, init_scale=2.0**8, factor=2.0, window=50, min_scale=1.0):
        self.cur_scale = init_scale
        self.factor, self.window, self.min_scale = factor, window, min_scale
        self.good = 0

    def update_scale(self, overflow):
        if overflow:
            self.cur_scale = max(self.cur_scale / self.factor, self.min_scale)
            self.good = 0
        else:
            self.good += 1
            if self.good % self.window == 0:
                self.cur_scale *= self.factor


class FP16Optimizer:
    def __init__(self, optimizer, scaler):
        self.optimizer = optimizer
        self.scaler = scaler
        self.skipped = 0

    @property
    def parameters(self):
        return [p for group in self.optimizer.param_groups for p in group["params"]]

    def backward(self, loss):
        self.optimizer.zero_grad()
        (loss * self.scaler.cur_scale).backward()

    def has_overflow(self):
        bad = torch.tensor(float(any(not p.grad.isfinite().all() for p in self.parameters if p.grad is not None)))
        dist.all_reduce(bad, dist.ReduceOp.MAX)
        return bool(bad)

    def step(self):
        scale = self.scaler.cur_scale
        overflow = self.has_overflow()
        self.scaler.update_scale(overflow)
        if overflow:
            self.skipped += 1
            if dist.get_rank() == 0 and self.skipped % 10 == 1:
                print(f"[Rank 0] Overflow detected. Skipping step. Attempted loss scale: {scale}, "
                      f"reducing to {self.scaler.cur_scale}", flush=True)
            return
        for parameter in self.parameters:
            if parameter.grad is not None:
                parameter.grad.div_(scale)
        self.optimizer.step()
