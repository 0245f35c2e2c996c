import subprocess

import torch
import torch.distributed as dist


def any_rank(flag):
    t = torch.tensor([1 if flag else 0])
    dist.all_reduce(t, op=dist.ReduceOp.MAX)
    return bool(t.item())


class LossGuard:
    """A batch is left out by all ranks if one of them has no finite loss."""

    def __init__(self, limit=50):
        self.skipped, self.limit = 0, limit

    def bad(self, loss):
        if any_rank(not torch.isfinite(loss)):
            self.skipped += 1
            if self.skipped > self.limit:
                raise RuntimeError("too many batches without a finite loss")
            return True
        return False


def gpu_name():
    try:
        return subprocess.check_output(["nvidia-smi", "-L"], stderr=subprocess.DEVNULL, text=True).strip()
    except (OSError, subprocess.CalledProcessError) as e:
        print(f"WARNING: nvidia-smi failed ({type(e).__name__}), going on with CPUs", flush=True)
        return "cpu"
