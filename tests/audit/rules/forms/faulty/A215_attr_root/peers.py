import torch.distributed as dist


class Peers:
    def __init__(self):
        self.me = dist.get_rank()

    def share(self, x):
        dist.broadcast(x, src=self.me)  # cause
