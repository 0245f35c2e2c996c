import random
import numpy
import torch


class Seeds:
    def __init__(self, base, rank):
        self.value = base + rank

    def apply(self):
        random.seed(self.value)
        numpy.random.seed(self.value)
        torch.manual_seed(self.value)
