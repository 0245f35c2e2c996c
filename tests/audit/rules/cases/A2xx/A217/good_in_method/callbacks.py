import time

import torch
import torch.distributed as dist
from transformers import TrainerCallback


class Budget(TrainerCallback):
    def __init__(self, minutes):
        self.limit = 60 * minutes
        self.started = time.monotonic()

    def _spent(self, device):
        spent = torch.tensor([time.monotonic() - self.started], device=device)
        dist.all_reduce(spent, op=dist.ReduceOp.MAX)
        return spent.item()

    def on_step_end(self, args, state, control, **kwargs):
        if self._spent(args.device) > self.limit:
            control.should_training_stop = True


class Enough(TrainerCallback):
    def __init__(self, most):
        self.most = most

    def _done(self, state):
        return state.global_step >= self.most

    def on_step_end(self, args, state, control, **kwargs):
        if self._done(state):
            control.should_training_stop = True
