import torch.distributed as dist


class Layout:
    def __init__(self, pipeline):
        self.rank, self.world = dist.get_rank(), dist.get_world_size()
        self.stage = self.rank // pipeline
        self.members = [r for r in range(self.world) if r // pipeline == self.stage]
        self.group = dist.new_group(self.members)  # cause
