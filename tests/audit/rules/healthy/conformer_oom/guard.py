import torch
import torch.distributed as dist


class Guard:
    """Runs a forward; says whether it worked on every rank."""

    def __init__(self, device):
        self.device = device
        self.dropped = 0

    def __call__(self, fn, *args):
        out, ok = None, True
        try:
            out = fn(*args)
        except torch.cuda.OutOfMemoryError:
            ok = False
        if not ok:
            torch.cuda.empty_cache()
        good = torch.tensor(int(ok), device=self.device)
        dist.all_reduce(good, op=dist.ReduceOp.MIN)
        if not good.item():
            self.dropped += 1
            return None
        return out
