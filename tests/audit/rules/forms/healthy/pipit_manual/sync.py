import torch
import torch.distributed as dist


class GradientSync:
    def __init__(self, net):
        self.params = [p for p in net.parameters() if p.requires_grad]
        self.works = []
        for t in list(net.parameters()) + list(net.buffers()):
            dist.broadcast(t.detach(), src=0)

    def begin(self):
        for p in self.params:
            if p.grad is None:
                p.grad = torch.zeros_like(p)
            self.works.append(dist.all_reduce(p.grad, async_op=True))

    def end(self):
        while self.works:
            self.works.pop().wait()
