import signal

import torch
import torch.distributed as dist


class StopVote:
    """Each rank may want to stop; all do so after the same step."""

    def __init__(self):
        self.wanted = False
        signal.signal(signal.SIGUSR1, self.on_signal)

    def on_signal(self, number, frame):
        self.wanted = True

    def agreed(self):
        flag = torch.tensor(float(self.wanted))
        dist.all_reduce(flag, op=dist.ReduceOp.MAX)
        return bool(flag.item())


def clean(loss):
    ok = torch.isfinite(loss).float()
    dist.all_reduce(ok, op=dist.ReduceOp.MIN)
    return bool(ok.item())
