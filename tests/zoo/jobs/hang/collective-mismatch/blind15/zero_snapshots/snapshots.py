import logging
import os
from functools import wraps

import torch
import torch.distributed as dist

from optim import full_state

log = logging.getLogger("snapshots")


def main_process(fn):
    @wraps(fn)
    def inner(*args, **kwargs):
        if not dist.is_initialized() or dist.get_rank() == 0:
            return fn(*args, **kwargs)
        return None
    return inner


class Snapshots:
    def __init__(self, folder, every):
        self.folder, self.every = folder, every

    @main_process
    def _write(self, step, model, opt):
        os.makedirs(self.folder, exist_ok=True)
        path = os.path.join(self.folder, f"{step:06d}.pt")
        torch.save({"step": step, "model": model.module.state_dict(), "opt": full_state(opt)}, path)
        log.info("wrote %s", path)

    def maybe(self, step, model, opt):
        if step % self.every == 0:
            self._write(step, model, opt)
