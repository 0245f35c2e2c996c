import time

import torch
import torch.distributed as dist


class StopTraining(Exception):
    """Raised on all ranks at once."""


class TimeLimit:
    def __init__(self, seconds):
        self.seconds, self.end = seconds, None

    def on_step_end(self, trainer):
        if self.end is None:
            self.end = time.monotonic() + self.seconds
        late = torch.tensor(int(time.monotonic() >= self.end))
        dist.all_reduce(late, op=dist.ReduceOp.MAX)
        if late.item():
            raise StopTraining(f"time limit at step {trainer.step}")
