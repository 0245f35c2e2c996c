import torch


class Throughput:

    def __init__(self):
        self.samples = self.batches = 0

    def add(self, n):
        self.samples += n
        self.batches += 1

    def tensor(self):
        return torch.tensor([self.samples, self.batches])
