import torch
import torch.distributed as dist


class Ring:
    def __init__(self, group=None):
        self.group = group
        self.size = dist.get_world_size(group)
        rank = dist.get_rank(group)
        members = dist.get_process_group_ranks(group or dist.group.WORLD)
        self.next = members[(rank + 1) % self.size]
        self.prev = members[(rank - 1) % self.size]

    def rotate(self, tensor):
        if self.size == 1:
            return tensor
        incoming = torch.empty_like(tensor)
        ops = [
            dist.P2POp(dist.isend, tensor.contiguous(), self.next, group=self.group),
            dist.P2POp(dist.irecv, incoming, self.prev, group=self.group),
        ]
        for req in dist.batch_isend_irecv(ops):
            req.wait()
        return incoming
