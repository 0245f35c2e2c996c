import os
import time

import torch
import torch.distributed as dist


class CheckpointStore:
    def __init__(self, root, keep=3):
        self.root = root
        self.keep = keep
        os.makedirs(root, exist_ok=True)

    def path(self, step):
        return os.path.join(self.root, f"step-{step:08d}.pt")

    def save(self, step, **objects):
        started = time.monotonic()
        payload = {name: obj.state_dict() for name, obj in objects.items()}
        payload["step"] = step
        if dist.get_rank() == 0:
            tmp = self.path(step) + ".partial"
            torch.save(payload, tmp)
            os.replace(tmp, self.path(step))
            self._prune()
        dist.barrier()
        return time.monotonic() - started if dist.get_rank() == 0 else None

    def _prune(self):
        names = sorted(n for n in os.listdir(self.root) if n.endswith(".pt"))
        for name in names[: -self.keep]:
            os.unlink(os.path.join(self.root, name))
