import math

import torch


class Utterances:
    SECONDS = 0.05

    def __init__(self, speaker, expected_rate, seed):
        self.speaker, self.expected_rate, self.seed = speaker, expected_rate, seed

    def __len__(self):
        return self.speaker["utterances"]

    def read(self, index):
        samples = int(self.speaker["sample_rate"] * self.SECONDS)
        g = torch.Generator().manual_seed(self.seed * 577 + index)
        t = torch.arange(samples) / self.speaker["sample_rate"]
        pitch = 120 + 200 * torch.rand(1, generator=g)
        clean = torch.sin(2 * math.pi * pitch * t) + 0.3 * torch.sin(4 * math.pi * pitch * t)
        return clean + 0.5 * torch.randn(samples, generator=g), clean


def batches(utterances, batch_size):
    for start in range(0, len(utterances) - batch_size + 1, batch_size):
        noisy, clean = zip(*(utterances.read(i) for i in range(start, start + batch_size)))
        yield torch.stack(noisy), torch.stack(clean)
