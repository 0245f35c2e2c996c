import math
from collections import Counter

import torch
import torch.distributed as dist


def ngrams(tokens, n):
    return Counter(tuple(tokens[i:i + n]) for i in range(len(tokens) - n + 1))


class CorpusBleu:
    def __init__(self, device, order=4):
        self.order = order
        self.stats = torch.zeros(2 * order + 2, dtype=torch.float64, device=device)

    def update(self, hypothesis, reference):
        for n in range(1, self.order + 1):
            h, r = ngrams(hypothesis, n), ngrams(reference, n)
            self.stats[2 * n - 2] += sum((h & r).values())
            self.stats[2 * n - 1] += max(sum(h.values()), 0)
        self.stats[-2] += len(hypothesis)
        self.stats[-1] += len(reference)

    def compute(self):
        stats = self.stats.clone()
        dist.all_reduce(stats)  # cause
        match, total = stats[:-2:2], stats[1:-2:2]
        if match.min() == 0:
            return 0.0
        brevity = min(0.0, 1.0 - (stats[-1] / stats[-2]).item())
        return 100 * math.exp(brevity + (match / total).log().mean().item())
