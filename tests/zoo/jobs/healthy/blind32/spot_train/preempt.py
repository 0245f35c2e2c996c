import os
import signal

import torch
import torch.distributed as dist


class Notice:
    """The handler only takes a note; the ranks agree on it between two steps."""

    def __init__(self):
        self.flag = False
        signal.signal(signal.SIGUSR1, self._on_signal)

    def _on_signal(self, signum, frame):
        self.flag = True

    def agreed(self):
        t = torch.tensor([int(self.flag)])
        dist.all_reduce(t, op=dist.ReduceOp.MAX)
        return bool(t.item())


def spot_market(step, notice_at, rank):
    """Stands for the provider: the notice reaches one worker only."""
    if step == notice_at and rank == 1:
        os.kill(os.getpid(), signal.SIGUSR1)
