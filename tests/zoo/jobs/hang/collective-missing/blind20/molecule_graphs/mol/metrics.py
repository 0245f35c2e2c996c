from collections import defaultdict

import torch
import torch.distributed as dist


class PerClassAccuracy:
    def __init__(self):
        self.tally = defaultdict(lambda: torch.zeros(2))

    def update(self, predicted, labels):
        for p, y in zip(predicted.tolist(), labels.tolist()):
            self.tally[y] += torch.tensor([float(p == y), 1.0])

    def compute(self):
        table = {}
        for label in sorted(self.tally):
            pair = self.tally[label].clone()
            dist.all_reduce(pair)
            table[label] = (pair[0] / pair[1]).item()
        return table
