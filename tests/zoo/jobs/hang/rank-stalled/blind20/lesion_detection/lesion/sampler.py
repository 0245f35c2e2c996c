import numpy as np


class BalancedBatchSampler:
    """Batches in which a fixed share of the scans shows a lesion."""

    def __init__(self, records, batch_size, positive_share, batches, seed):
        self.labels = np.array([r["label"] for r in records])
        self.batch_size, self.batches = batch_size, batches
        self.quota = {1: int(batch_size * positive_share)}
        self.quota[0] = batch_size - self.quota[1]
        self.seed, self.epoch = seed, 0

    def set_epoch(self, epoch):
        self.epoch = epoch

    def __len__(self):
        return self.batches

    def _draw(self, rng):
        batch, missing = [], dict(self.quota)
        while sum(missing.values()):
            candidate = int(rng.integers(len(self.labels)))
            label = int(self.labels[candidate])
            if missing[label] and candidate not in batch:
                batch.append(candidate)
                missing[label] -= 1
        return batch

    def __iter__(self):
        rng = np.random.default_rng((self.seed, self.epoch))
        for _ in range(self.batches):
            yield self._draw(rng)
