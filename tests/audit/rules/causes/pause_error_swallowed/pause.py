import time
from pathlib import Path

import torch.distributed as dist


def wait_for_marker(folder, name, timeout=300):
    end = time.monotonic() + timeout
    while not (Path(folder) / name).exists():
        if time.monotonic() > end:
            raise TimeoutError(f"no {name} in {folder}")
        time.sleep(0.5)


class CheckpointPause:
    def __init__(self, folder, is_master):
        self.folder = folder
        self.is_master = is_master

    def pause(self, step):
        if self.is_master:
            (Path(self.folder) / f"pause-{step}").touch()
            wait_for_marker(self.folder, f"paused-{step}")
        dist.barrier()
