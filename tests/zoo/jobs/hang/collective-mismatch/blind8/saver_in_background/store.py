import copy
import time
from concurrent.futures import ThreadPoolExecutor

import torch
import torch.distributed as dist

BYTES_PER_SECOND = 256 * 1024


def tree_bytes(tree):
    if isinstance(tree, torch.Tensor):
        return tree.numel() * tree.element_size()
    if isinstance(tree, dict):
        return sum(tree_bytes(value) for value in tree.values())
    if isinstance(tree, (list, tuple)):
        return sum(tree_bytes(value) for value in tree)
    return 0


class CheckpointManager:
    """Rank 0 holds the dense weights, every rank its part of the optimizer."""

    def __init__(self, root, keep):
        self.root, self.keep = root, keep
        self.rank = dist.get_rank()
        self.pool = ThreadPoolExecutor(1, thread_name_prefix="ckpt")
        self.future = None

    def save(self, step, weights, optim):
        part = {"optim": optim} if self.rank else {"weights": weights, "optim": optim, "extra": [w for w in weights.values()]}
        if self.future is not None:
            self.future.result()
        self.future = self.pool.submit(self._persist, step, copy.deepcopy(part))
        self._rotate()
        dist.barrier()

    def _persist(self, step, part):
        staged = self._stage(part)
        plans = [None] * dist.get_world_size()
        dist.all_gather_object(plans, {"rank": self.rank, "bytes": tree_bytes(staged)})
        torch.save(staged, self.root / f"step{step}-{self.rank}.pt")
        return plans

    def _stage(self, part):
        time.sleep(max(0, tree_bytes(part) - 200_000) / BYTES_PER_SECOND * 3)
        return part

    def _rotate(self):
        old = sorted(self.root.glob(f"step*-{self.rank}.pt"))[: -self.keep]
        for path in old:
            path.unlink()
        time.sleep(0.4)

    def close(self):
        if self.future is not None:
            self.future.result()
        self.pool.shutdown()
