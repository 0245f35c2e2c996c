import torch
import torch.distributed as dist


class Recovery:
    def __init__(self, model):
        self.model = model

    def restore(self):
        for p in self.model.parameters():
            dist.broadcast(p.data, src=0)
