import torch
from torch.nn.parallel import DistributedDataParallel


class Trainer:
    def __init__(self, model):
        self.model = torch.compile(model)
        self.model = DistributedDataParallel(self.model)
