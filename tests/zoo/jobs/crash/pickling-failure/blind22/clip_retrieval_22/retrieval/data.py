import numpy as np
import torch
from torch.utils.data import Dataset


class FeatureStore:
    """Precomputed features of all pairs, kept in memory."""

    def __init__(self, images, captions, vocab_size):
        self.images = images
        self.captions = captions
        self.vocab_size = vocab_size
        self.image_dim = images.shape[1]

    def pair(self, index):
        return self.images[index], self.captions[index]

    def __len__(self):
        return len(self.images)


class CountingStore:
    """Counts look-ups per pair and hands everything else on to the store below."""

    def __init__(self, inner):
        self.inner = inner
        self.hits = np.zeros(len(inner), dtype=np.int64)

    def pair(self, index):
        self.hits[index] += 1
        return self.inner.pair(index)

    def __len__(self):
        return len(self.inner)

    def __getattr__(self, name):
        return getattr(self.inner, name)


def build_store(n, seed):
    rng = np.random.default_rng(seed)
    images = rng.standard_normal((n, 64), dtype=np.float32)
    captions = rng.integers(1, 500, size=(n, 12))
    return CountingStore(FeatureStore(images, captions, vocab_size=500))


class PairDataset(Dataset):
    def __init__(self, store):
        self.store = store

    def __len__(self):
        return len(self.store)

    def __getitem__(self, index):
        image, tokens = self.store.pair(index)
        return torch.from_numpy(image), torch.from_numpy(tokens)
