import contextlib
import logging
import time

import torch.distributed as dist

log = logging.getLogger("phases")


@contextlib.contextmanager
def phase(name):
    start = time.perf_counter()
    try:
        yield
    finally:
        dist.barrier()
        if dist.get_rank() == 0:
            log.info("%s took %.2fs", name, time.perf_counter() - start)
