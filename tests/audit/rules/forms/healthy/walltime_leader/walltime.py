import signal
import time

import torch
import torch.distributed as dist


class WalltimeGuard:
    def __init__(self, minutes, device):
        self.deadline = time.monotonic() + 60 * minutes
        self.device = device
        self.asked = False
        signal.signal(signal.SIGUSR1, self._on_signal)

    def _on_signal(self, *_):
        self.asked = True

    def should_stop(self):
        flag = torch.zeros(1, dtype=torch.int32, device=self.device)
        if dist.get_rank() == 0 and (self.asked or time.monotonic() > self.deadline):
            flag.fill_(1)
        dist.broadcast(flag, src=0)
        return bool(flag.item())
