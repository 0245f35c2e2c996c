import torch.distributed as dist


class Layout:
    def __init__(self, pipeline):
        self.rank, self.world = dist.get_rank(), dist.get_world_size()
        self.stage = self.rank // pipeline
        self.members = [r for r in range(self.world) if r // pipeline == self.stage]
        groups = [dist.new_group(list(range(at, at + pipeline))) for at in range(0, self.world, pipeline)]
        self.group = groups[self.stage]
