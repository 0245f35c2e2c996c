"""A byte pair tokenizer that encodes batches on a small pool of threads."""
import re
from collections import Counter
from concurrent.futures import ThreadPoolExecutor


class Tokenizer:
    PAD, UNK = 0, 1

    def __init__(self, threads=2):
        self.vocab = {}
        self.pool = ThreadPoolExecutor(max_workers=threads)

    def train(self, documents, size):
        counts = Counter()
        for text in documents:
            for word in re.findall(r"\w+|\S", text):
                counts.update(word[i : i + 2] for i in range(0, len(word), 2))
        self.vocab = {piece: i + 2 for i, (piece, _) in enumerate(counts.most_common(size - 2))}

    def __len__(self):
        return len(self.vocab) + 2

    def encode(self, text):
        ids = []
        for word in re.findall(r"\w+|\S", text):
            ids.extend(self.vocab.get(word[i : i + 2], self.UNK) for i in range(0, len(word), 2))
        return ids

    def encode_batch(self, texts):
        return list(self.pool.map(self.encode, texts))
