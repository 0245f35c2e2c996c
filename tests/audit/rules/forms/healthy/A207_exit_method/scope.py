import torch.distributed as dist


class Scope:
    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if kind is None:
            dist.barrier()
        return False
