import os
import signal
import threading

import torch
import torch.distributed as dist


class GracefulExit:
    """Remembers SIGTERM and SIGUSR1; the ranks agree at the end of each step."""

    def __init__(self):
        self.received = None
        for number in (signal.SIGTERM, signal.SIGUSR1):
            signal.signal(number, self._handle)

    def _handle(self, number, frame):
        self.received = signal.Signals(number).name

    def agreed(self):
        flag = torch.tensor([1.0 if self.received else 0.0])
        dist.all_reduce(flag, op=dist.ReduceOp.MAX)
        return bool(flag.item())


def start_walltime_warning(seconds):
    """What the batch system does before the limit: it warns one task of the job."""
    timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGUSR1))
    timer.daemon = True
    timer.start()
