import torch.distributed as dist


class OverlappedReducer:
    """Averages gradients across ranks while backward is still running."""

    def __init__(self, module):
        self.world = dist.get_world_size()
        self.works = []
        for p in module.parameters():
            dist.broadcast(p.data, 0)
            p.register_post_accumulate_grad_hook(self._launch)

    def _launch(self, p):
        p.grad.div_(self.world)
        self.works.append(dist.all_reduce(p.grad, async_op=True))

    def finish(self):
        if self.works:
            self.works[-1].wait()
        self.works.clear()
