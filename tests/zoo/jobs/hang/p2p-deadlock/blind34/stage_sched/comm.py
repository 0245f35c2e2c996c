import torch
import torch.distributed as dist


class StageLink:
    """Point to point links of one stage to its neighbours."""

    def __init__(self, stage, num_stages, act_shape):
        self.prev = stage - 1 if stage > 0 else None
        self.next = stage + 1 if stage < num_stages - 1 else None
        self.act_shape = act_shape

    def recv_forward(self):
        if self.prev is None:
            return None
        buf = torch.empty(self.act_shape)
        dist.recv(buf, src=self.prev)
        return buf.requires_grad_()

    def send_forward(self, out):
        if self.next is not None:
            dist.send(out.detach().contiguous(), dst=self.next)

    def recv_backward(self):
        if self.next is None:
            return None
        buf = torch.empty(self.act_shape)
        dist.recv(buf, src=self.next)
        return buf

    def send_backward(self, grad):
        if self.prev is not None:
            dist.send(grad.contiguous(), dst=self.prev)
