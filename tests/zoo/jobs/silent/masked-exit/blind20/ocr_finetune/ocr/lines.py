import numpy as np
import torch
from torch.utils.data import Dataset

ALPHABET = "abcdefgh"


class LineImages(Dataset):
    """Text lines as stripes: each letter is a column pattern."""

    def __init__(self, texts, seed):
        self.texts, self.seed = texts, seed
        self.glyphs = np.random.default_rng(0).random((len(ALPHABET), 8)).astype(np.float32)

    def __len__(self):
        return len(self.texts)

    def __getitem__(self, index):
        codes = [ALPHABET.index(c) for c in self.texts[index]]
        noise = np.random.default_rng((self.seed, index)).normal(0, 0.2, (12, 8)).astype(np.float32)
        target = np.full(12, -100)
        if codes:
            noise[:len(codes)] += self.glyphs[codes]
            target[:len(codes)] = codes
        return torch.from_numpy(noise), torch.from_numpy(target)


def make_texts(count, seed, blank_from=None):
    rng = np.random.default_rng(seed)
    texts = []
    for n in range(count):
        length = 0 if blank_from is not None and n >= blank_from else int(rng.integers(3, 12))
        texts.append("".join(ALPHABET[i] for i in rng.integers(0, len(ALPHABET), length)))
    return texts
