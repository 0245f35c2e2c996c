import torch
import torch.distributed as dist


class Layout:
    """Trainers first, then the ensemble members that share one initialisation."""

    def __init__(self, trainers=1):
        world = dist.get_world_size()
        self.rank = dist.get_rank()
        self.trainer_ranks = list(range(trainers))
        self.member_ranks = list(range(trainers, world))
        self.members = dist.new_group(self.member_ranks)

    @property
    def is_member(self):
        return self.rank in self.member_ranks

    def sync_members(self, module, leader=0):
        for tensor in [*module.parameters(), *module.buffers()]:
            dist.broadcast(tensor.data, src=leader, group=self.members)

    def average_members(self, module):
        for p in module.parameters():
            dist.all_reduce(p.grad, group=self.members)
            p.grad /= len(self.member_ranks)
