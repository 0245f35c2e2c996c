import torch.distributed as dist


class Builder:
    def __init__(self, is_built_on_rank):
        self.is_built_on_rank = is_built_on_rank

    def build(self, together):
        return self.generic(dict, self.is_built_on_rank, together)

    @staticmethod
    def generic(cls, is_built_on_rank, together):
        made = cls() if is_built_on_rank() else None
        if together:
            dist.barrier()
        return made
