import threading
import time

import torch
import torch.distributed as dist


class Telemetry(threading.Thread):
    """Averages the loss over all ranks every while, in the background and in its own group."""

    def __init__(self, group):
        super().__init__(daemon=True, name="telemetry")
        self.group = group
        self.last = 0.0
        self.stopping = threading.Event()

    def note(self, loss):
        self.last = loss

    def run(self):
        while True:
            # Rank 0 looks after the machine as well and is back much later than its peer.
            self.stopping.wait(8.0 if dist.get_rank() == 0 else 0.2)
            told = torch.tensor([self.last, float(self.stopping.is_set())])
            dist.all_reduce(told, group=self.group)
            if told[1] == dist.get_world_size():
                return
            if self.stopping.is_set():
                time.sleep(0.1)

    def stop(self):
        self.stopping.set()
        self.join()
