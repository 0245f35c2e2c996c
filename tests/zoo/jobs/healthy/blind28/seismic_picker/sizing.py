import logging

import torch
import torch.distributed as dist

log = logging.getLogger(__name__)


def largest_batch(try_batch, start, smallest=4):
    """Halves the batch until no rank runs out of memory."""
    batch = start
    while batch >= smallest:
        try:
            try_batch(batch)
            fits = 1
        except MemoryError:
            log.exception("batch of %d does not fit", batch)
            fits = 0
        answer = torch.tensor(fits)
        dist.all_reduce(answer, op=dist.ReduceOp.MIN)
        if answer.item():
            return batch
        batch //= 2
    raise SystemExit("no batch fits")
