import torch.distributed as dist


class HierarchicalAverager:
    """intra-node reduce, all_reduce between the leaders, intra-node broadcast"""

    def __init__(self, mesh, settle_every=20):
        self.mesh = mesh
        self.settle_every = settle_every
        self.calls = 0

    def _between_leaders(self, tensors):
        for t in tensors:
            dist.all_reduce(t, group=self.mesh.leaders)
        if self.calls % self.settle_every == 0:
            dist.barrier()

    def __call__(self, tensors):
        self.calls += 1
        first = self.mesh.node * self.mesh.local_size
        for t in tensors:
            dist.reduce(t, dst=first, group=self.mesh.intra)
        if self.mesh.leaders is not None:
            self._between_leaders(tensors)
        for t in tensors:
            dist.broadcast(t, src=first, group=self.mesh.intra)
            t /= self.mesh.world
