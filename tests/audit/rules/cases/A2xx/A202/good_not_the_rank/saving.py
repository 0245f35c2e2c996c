import torch.distributed as dist


class Checkpoint:
    def save(self):
        dist.barrier()


class NamedFolder:
    def __init__(self, name, sync=True):
        self.name = name
        if sync:
            dist.barrier()

    def __enter__(self):
        return self.name

    def __exit__(self, *error):
        return None
