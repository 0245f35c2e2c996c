import torch


class Slots:
    def __init__(self, like, count):
        self.parts = count * [torch.empty_like(like)]
