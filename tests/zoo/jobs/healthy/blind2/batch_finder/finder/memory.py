import functools
import gc
import logging

import torch
import torch.distributed as dist

logger = logging.getLogger(__name__)


def should_reduce_batch_size(exception):
    texts = ("CUDA out of memory.", "DefaultCPUAllocator: can't allocate memory", "can't allocate memory: you tried")
    return isinstance(exception, (RuntimeError, MemoryError)) and any(t in str(exception) for t in texts)


def find_executable_batch_size(function=None, starting_batch_size=128):
    """Calls function(batch_size, ...) with smaller and smaller batches until all ranks can do it."""
    if function is None:
        return functools.partial(find_executable_batch_size, starting_batch_size=starting_batch_size)

    @functools.wraps(function)
    def decorator(*args, **kwargs):
        batch_size = starting_batch_size
        while batch_size > 0:
            failed, result = None, None
            try:
                result = function(batch_size, *args, **kwargs)
            except Exception as e:
                if not should_reduce_batch_size(e):
                    raise
                failed = e
                gc.collect()
            flag = torch.tensor([int(failed is not None)])
            dist.all_reduce(flag, op=dist.ReduceOp.MAX)
            if not flag.item():
                return batch_size, result
            logger.warning("batch size %d does not fit (%s)", batch_size, failed or "on another rank")
            batch_size //= 2
        raise RuntimeError("No executable batch size found, reached zero.")

    return decorator
