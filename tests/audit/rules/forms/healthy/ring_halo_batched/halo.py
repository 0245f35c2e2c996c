import torch
import torch.distributed as dist


class RingHalo:
    """Exchanges border rows with both neighbours of a periodic 1-d decomposition."""

    def __init__(self, depth, rank=None, world=None):
        self.depth = depth
        self.rank = dist.get_rank() if rank is None else rank
        self.world = dist.get_world_size() if world is None else world
        self.up = (self.rank - 1) % self.world
        self.down = (self.rank + 1) % self.world

    def _shift(self, outgoing, to, frm):
        incoming = torch.empty_like(outgoing)
        ops = [dist.P2POp(dist.isend, outgoing, to), dist.P2POp(dist.irecv, incoming, frm)]
        for work in dist.batch_isend_irecv(ops):
            work.wait()
        return incoming

    def pad(self, field):
        d = self.depth
        above = self._shift(field[..., -d:, :].contiguous(), self.down, self.up)
        below = self._shift(field[..., :d, :].contiguous(), self.up, self.down)
        return torch.cat([above, field, below], dim=-2)
