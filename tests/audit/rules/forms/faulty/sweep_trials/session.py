import os
from contextlib import contextmanager

import torch
import torch.distributed as dist


@contextmanager
def session(backend="nccl"):
    local = int(os.environ["LOCAL_RANK"])
    if backend == "nccl":
        torch.cuda.set_device(local)
    dist.init_process_group(backend)  # cause
    try:
        yield torch.device("cuda", local) if backend == "nccl" else torch.device("cpu")
    finally:  # cause
        if backend == "nccl":
            torch.cuda.synchronize()
            torch.cuda.empty_cache()  # cause
