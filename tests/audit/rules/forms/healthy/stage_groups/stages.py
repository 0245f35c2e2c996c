import torch
import torch.distributed as dist


class StageGroups:
    def __init__(self, widths):
        if sum(widths) != dist.get_world_size():
            raise ValueError("stage widths must add up to the world size")
        self.members, self.groups, start = [], [], 0
        for w in widths:
            ranks = list(range(start, start + w))
            self.members.append(ranks)
            self.groups.append(dist.new_group(ranks))
            start += w
        me = dist.get_rank()
        self.stage = next(i for i, r in enumerate(self.members) if me in r)

    @property
    def leader(self):
        return self.members[self.stage][0]

    @property
    def group(self):
        return self.groups[self.stage]


def sync_stage(module, stages):
    for t in module.state_dict().values():
        dist.broadcast(t, src=stages.leader, group=stages.group)


@torch.no_grad()
def average_grads(module, stages):
    n = len(stages.members[stages.stage])
    for p in module.parameters():
        dist.all_reduce(p.grad, group=stages.group)
        p.grad.div_(n)
