import torch
from torch.utils.data import Dataset


class ConceptPairs(Dataset):
    """Images are noisy renderings of latent concepts, captions are short token sequences of the same."""

    def __init__(self, n, concepts, split, seed=0, side=12, length=8, vocab=96):
        world = torch.Generator().manual_seed(seed)
        self.proto = torch.randn(concepts, 1, side, side, generator=world)
        self.words = torch.randint(1, vocab, (concepts, length), generator=world)
        g = torch.Generator().manual_seed(seed + (1 if split == "train" else 2))
        self.concept = torch.randint(0, concepts, (n,), generator=g)
        self.noise = 0.9 * torch.randn(n, 1, side, side, generator=g)
        self.drop = torch.rand(n, length, generator=g) < 0.35

    def __len__(self):
        return len(self.concept)

    def __getitem__(self, i):
        c = self.concept[i]
        return self.proto[c] + self.noise[i], self.words[c].masked_fill(self.drop[i], 0), c
