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
        dist.send(outgoing, dst=to)  # cause
        dist.recv(incoming, src=frm)  # cause
        return incoming

    def pad(self, field):
        d = self.depth
        above = self._shift(field[..., -d:, :].contiguous(), self.down, self.up)
        below = self._shift(field[..., :d, :].contiguous(), self.up, self.down)
        return torch.cat([above, field, below], dim=-2)
