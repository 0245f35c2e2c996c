import torch
import torch.distributed as dist


class TensorParallelFeeder:
    def __init__(self, loader, group, device, shape):
        self.source = loader
        self.group = group
        self.device = device
        self.shape = shape
        self.leader = dist.get_rank(group) == 0

    def __iter__(self):
        it = iter(self.source) if self.leader else None
        while True:
            more = torch.zeros(1, dtype=torch.int32, device=self.device)
            tokens = torch.empty(self.shape, dtype=torch.long, device=self.device)
            if self.leader:
                batch = next(it, None)
                if batch is not None:
                    more.fill_(1)
                    tokens.copy_(batch)
            self._share(more)
            if not more.item():
                return
            self._share(tokens)
            yield tokens

    def _share(self, tensor):
        dist.broadcast(tensor, group_src=0, group=self.group)
