import torch
from torch.utils.data import IterableDataset


class ChapterStream(IterableDataset):
    """Chapters of the books of one process, cut into windows; books are whole, so processes differ in windows."""

    BOOKS = (5200, 4100, 7900, 2600, 6400, 3300)

    def __init__(self, rank, world, window=24, vocab=40, seed=0):
        self.books = list(enumerate(self.BOOKS))[rank::world]
        self.window, self.vocab, self.seed, self.epoch = window, vocab, seed, 0

    def _read(self, book, length):
        g = torch.Generator().manual_seed(self.seed + book)
        return torch.randint(1, 4, (length,), generator=g).cumsum(0) % self.vocab

    def __iter__(self):
        g = torch.Generator().manual_seed(self.seed + 100 * self.epoch)
        for at in torch.randperm(len(self.books), generator=g).tolist():
            text = self._read(*self.books[at])
            for start in range(0, len(text) - self.window - 1, self.window):
                yield text[start:start + self.window + 1]
