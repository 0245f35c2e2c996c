import contextlib

import torch
import torch.distributed as dist


def tell(flag):
    dist.all_reduce(flag, op=dist.ReduceOp.MAX)


def train(model, loader, flag):
    for batch in loader:
        try:
            loss = model(batch).mean()
            loss.backward()
        except torch.OutOfMemoryError:
            flag.fill_(1)
            dist.broadcast(flag, src=0)
        except RuntimeError as error:
            if "memory" not in str(error):
                raise
            tell(flag)


@contextlib.contextmanager
def group():
    dist.init_process_group("nccl")
    try:
        yield
    finally:
        dist.barrier()
        dist.destroy_process_group()
