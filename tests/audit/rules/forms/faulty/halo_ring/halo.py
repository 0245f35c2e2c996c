import torch
import torch.distributed as dist


class Ring:
    def __init__(self):
        self.rank, self.size = dist.get_rank(), dist.get_world_size()
        self.right = (self.rank + 1) % self.size
        self.left = (self.rank - 1) % self.size

    def _shift(self, piece, to, frm):
        piece = piece.contiguous()
        arrived = torch.empty_like(piece)
        dist.send(piece, dst=to)  # cause
        dist.recv(arrived, src=frm)  # cause
        return arrived

    def pad(self, field, width=1):
        from_left = self._shift(field[..., -width:], self.right, self.left)
        from_right = self._shift(field[..., :width], self.left, self.right)
        return torch.cat([from_left, field, from_right], dim=-1)
