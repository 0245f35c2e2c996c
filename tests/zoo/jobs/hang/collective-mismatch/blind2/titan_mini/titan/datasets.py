import json
import random

import torch

WORDS = "the a model loss step data rank token layer norm head block".split()


def synthetic_corpus(n, seed):
    rng = random.Random(seed)
    for i in range(n):
        text = " ".join(rng.choice(WORDS) for _ in range(rng.randint(20, 40)))
        yield json.dumps({"redirect": "/"} if i == 150 else {"text": text})


class Tokenizer:

    def __init__(self):
        self.ids = {w: i + 1 for i, w in enumerate(WORDS)}
        self.n_words = len(WORDS) + 1

    def encode(self, text):
        return [self.ids[w] for w in text.split()]


class TextDataset(torch.utils.data.IterableDataset):
    """Packs documents into sequences; document i belongs to rank i modulo world size."""

    def __init__(self, tokenizer, seq_len, rank, world_size):
        self.tokenizer, self.seq_len = tokenizer, seq_len
        self.rank, self.world_size = rank, world_size
        self._buffer = []

    def _documents(self):
        for i, line in enumerate(synthetic_corpus(4000, seed=9)):
            if i % self.world_size == self.rank:
                yield json.loads(line)

    def __iter__(self):
        for sample in self._documents():
            self._buffer.extend(self.tokenizer.encode(sample["text"]))
            while len(self._buffer) > self.seq_len:
                chunk = torch.tensor(self._buffer[: self.seq_len + 1])
                self._buffer = self._buffer[self.seq_len + 1 :]
                yield chunk[:-1], chunk[1:]
