import numpy as np
import torch
from torch.utils.data import Dataset


class PairDataset(Dataset):
    """A document is a bag of words of one topic; its query has a few of its words, spelled in another vocabulary."""

    def __init__(self, size, vocab=400, doc_words=24, query_words=6, seed=0, table_seed=99):
        rng = np.random.default_rng(seed)
        self.translate = np.random.default_rng(table_seed).permutation(vocab)
        self.documents = rng.integers(0, vocab, size=(size, doc_words))
        picks = np.stack([rng.choice(doc_words, query_words, replace=False) for _ in range(size)])
        self.queries = self.translate[np.take_along_axis(self.documents, picks, axis=1)]

    def __len__(self):
        return len(self.documents)

    def __getitem__(self, i):
        return torch.as_tensor(self.queries[i]), torch.as_tensor(self.documents[i])
