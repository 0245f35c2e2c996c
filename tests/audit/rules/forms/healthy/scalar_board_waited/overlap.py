import torch
import torch.distributed as dist


class ScalarBoard:
    """Starts the averaging of scalars early and reports them at the end of a step."""

    def __init__(self, device):
        self.device = device
        self.pending = {}

    def put(self, name, value):
        buf = value.detach().float().reshape(1).to(self.device)
        work = dist.all_reduce(buf, op=dist.ReduceOp.SUM, async_op=True)
        self.pending[name] = (buf, work)

    def drain(self):
        world = dist.get_world_size()
        out = {}
        for name, (buf, work) in self.pending.items():
            work.wait()
            out[name] = buf.div_(world).item()
        self.pending.clear()
        return out
