import torch
from torch.utils.data import IterableDataset


class ConstantLengthDataset(IterableDataset):
    """Joins token streams of unequal documents and cuts windows of ``seq_length`` out of them."""

    def __init__(self, seq_length=16, vocab=36, num_docs=400, seed=0):
        self.seq_length, self.vocab, self.num_docs, self.seed = seq_length, vocab, num_docs, seed

    def documents(self):
        g = torch.Generator().manual_seed(self.seed)
        for _ in range(self.num_docs):
            start = int(torch.randint(1, self.vocab, (1,), generator=g))
            stride = int(torch.randint(1, 6, (1,), generator=g))
            length = int(torch.randint(5, 40, (1,), generator=g))
            yield [(start + stride * i) % (self.vocab - 1) + 1 for i in range(length)] + [0]

    def __iter__(self):
        buffer = []
        for doc in self.documents():
            buffer.extend(doc)
            while len(buffer) >= self.seq_length:
                yield torch.tensor(buffer[: self.seq_length])
                buffer = buffer[self.seq_length :]
