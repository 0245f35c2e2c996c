import os
from contextlib import contextmanager

import torch
import torch.distributed as dist


@contextmanager
def session(backend="nccl"):
    local = int(os.environ["LOCAL_RANK"])
    if backend == "nccl":
        torch.cuda.set_device(local)
    if not dist.is_initialized():
        dist.init_process_group(backend)
    try:
        yield torch.device("cuda", local) if backend == "nccl" else torch.device("cpu")
    finally:
        if backend == "nccl":
            torch.cuda.synchronize()
            torch.cuda.empty_cache()
