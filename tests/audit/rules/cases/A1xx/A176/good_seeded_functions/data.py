import torch
from torch.utils.data import random_split


class Parts:
    def __init__(self, whole):
        self.whole = whole

    def train(self):
        torch.manual_seed(7)
        train, _ = random_split(self.whole, [0.8, 0.2])
        return train

    def val(self):
        torch.manual_seed(7)
        _, val = random_split(self.whole, [0.8, 0.2])
        return val
