import torch
import torch.distributed as dist


class HaloExchange:
    def __init__(self, cart, width=1):
        self.cart = cart
        self.width = width

    def _swap(self, out, axis):
        peer = self.cart.neighbour(axis)
        if peer == self.cart.rank:
            return out.clone()
        inbox = torch.empty_like(out)
        if self.cart.leads(axis):
            dist.send(out, peer)
            dist.recv(inbox, peer)
        else:
            dist.recv(inbox, peer)
            dist.send(out, peer)
        return inbox

    def __call__(self, field):
        w = self.width
        right = self._swap(field[..., -w:].contiguous(), "x")
        field = torch.cat([right, field, right], dim=-1)
        down = self._swap(field[..., -w:, :].contiguous(), "y")
        return torch.cat([down, field, down], dim=-2)
