import time

import torch


class Utterances:
    """Feature frames with their phone alignment, read at the speed of the disk array."""

    def __init__(self, batches, batch_size, frames, phones, read_seconds=0.12):
        self.batches, self.shape = batches, (batch_size, frames)
        self.phones, self.read_seconds = phones, read_seconds

    def epoch(self, seed):
        g = torch.Generator().manual_seed(seed)
        for _ in range(self.batches):
            time.sleep(self.read_seconds)
            ali = torch.randint(0, self.phones, self.shape, generator=g)
            feats = torch.nn.functional.one_hot(ali, self.phones).float()
            yield feats + 0.3 * torch.randn(feats.shape, generator=g), ali
