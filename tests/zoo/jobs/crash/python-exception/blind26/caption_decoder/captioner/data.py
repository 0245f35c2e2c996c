import random

import torch
from torch.utils.data import Dataset

PAD, BOS, EOS, UNK = range(4)
WORDS = ("a the red blue small large dog cat horse bird runs sits flies jumps over under near with "
         "man woman child street field river table chair window while and then slowly quickly").split()


class Vocabulary:
    def __init__(self, words):
        self.index = {w: i + 4 for i, w in enumerate(words)}

    def __len__(self):
        return len(self.index) + 4

    def encode(self, caption):
        return [self.index.get(w, UNK) for w in caption.split()]


def make_captions(count, seed):
    rng = random.Random(seed)
    captions = []
    for i in range(count):
        n = rng.randint(5, 14) if i % 97 != 61 else rng.randint(20, 26)
        captions.append(" ".join(rng.choice(WORDS) for _ in range(n)))
    return captions


class CaptionDataset(Dataset):
    """Image features with one caption each, padded to a fixed length."""

    def __init__(self, count, vocab, max_len=16, feature_dim=32, seed=0):
        self.captions = make_captions(count, seed)
        self.vocab = vocab
        self.max_len = max_len
        generator = torch.Generator().manual_seed(seed)
        self.features = torch.randn(count, feature_dim, generator=generator)

    def __len__(self):
        return len(self.captions)

    def __getitem__(self, index):
        words = self.vocab.encode(self.captions[index])
        ids = [BOS] + words[: self.max_len - 1] + [EOS]
        ids += [PAD] * (self.max_len - len(ids))
        return {"image": self.features[index], "tokens": torch.tensor(ids)}
