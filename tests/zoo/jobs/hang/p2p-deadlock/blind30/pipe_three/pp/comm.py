import torch
import torch.distributed as dist


class StageComm:
    """Blocking point-to-point between neighbouring stages."""

    def __init__(self, rank, world_size, hidden):
        self.rank, self.world_size, self.hidden = rank, world_size, hidden
        self.prev = rank - 1 if rank > 0 else None
        self.next = rank + 1 if rank < world_size - 1 else None

    @property
    def is_first(self):
        return self.prev is None

    @property
    def is_last(self):
        return self.next is None

    def recv_forward(self, mbs):
        if self.is_first:
            return None
        buf = torch.empty(mbs, self.hidden)
        dist.recv(buf, self.prev)
        return buf.requires_grad_()

    def send_forward(self, out):
        if not self.is_last:
            dist.send(out.detach().contiguous(), self.next)

    def recv_backward(self, mbs):
        if self.is_last:
            return None
        buf = torch.empty(mbs, self.hidden)
        dist.recv(buf, self.next)
        return buf

    def send_backward(self, grad):
        if not self.is_first:
            dist.send(grad.contiguous(), self.prev)

    def send_forward_recv_backward(self, out, mbs):
        if self.is_last:
            return None
        buf = torch.empty(mbs, self.hidden)
        req = dist.isend(out.detach().contiguous(), self.next)
        dist.recv(buf, self.next)
        req.wait()
        return buf

    def send_backward_recv_forward(self, grad, mbs):
        if self.is_first:
            return None
        buf = torch.empty(mbs, self.hidden)
        req = dist.isend(grad.contiguous(), self.prev)
        dist.recv(buf, self.prev)
        req.wait()
        return buf.requires_grad_()
