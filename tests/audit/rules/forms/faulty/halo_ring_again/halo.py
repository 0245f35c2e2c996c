import torch
import torch.distributed as dist


class Ring:
    def __init__(self):
        self.rank = dist.get_rank()
        self.size = dist.get_world_size()

    @property
    def right(self):
        return (self.rank + 1) % self.size

    @property
    def left(self):
        return (self.rank - 1) % self.size

    def shift(self, block, forward=True):
        dst, src = (self.right, self.left) if forward else (self.left, self.right)
        out = torch.empty_like(block)
        block = block.contiguous()
        dist.send(block, dst)  # cause
        dist.recv(out, src)  # cause
        return out


def pad_with_halo(field, width, ring):
    from_left = ring.shift(field[..., -width:], forward=True)
    from_right = ring.shift(field[..., :width], forward=False)
    return torch.cat([from_left, field, from_right], dim=-1)
