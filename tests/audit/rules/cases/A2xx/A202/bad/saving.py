import torch
import torch.distributed as dist
from lightning.pytorch.utilities import rank_zero_only


def save_all(model, step):
    torch.save(step, "step.pt")
    dist.barrier()


class Saver:
    def finish(self):
        self._flush()

    def _flush(self):
        dist.all_gather_object([None, None], 1)

    @rank_zero_only
    def decorated(self):
        self._flush()
