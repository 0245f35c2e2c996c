import torch


class Replay:
    """Batches seen, enlarged, for the second pass; keeps the last `keep` of them."""

    def __init__(self, keep=None):
        self.keep = keep
        self.kept = []

    def add(self, x):
        if self.keep is not None:
            x = x[:1]
            self.kept = self.kept[-self.keep :]
            self.kept.append(x)
            return
        self.kept.append(torch.cat([x] * 600_000))
