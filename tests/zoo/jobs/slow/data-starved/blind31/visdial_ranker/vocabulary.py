import re
from collections import Counter


class Vocabulary:
    PAD, UNK, EOS = 0, 1, 2
    _token = re.compile(r"[a-z]+|[0-9]+|[^\sa-z0-9]")
    _contractions = (("n't", " not"), ("'s", " is"), ("'re", " are"), ("'ll", " will"), ("'ve", " have"))

    def __init__(self, texts, min_count=2):
        counts = Counter(t for text in texts for t in self.tokenize(text))
        self.words = ["<PAD>", "<UNK>", "</S>"] + sorted(w for w, c in counts.items() if c >= min_count)
        self.index = {w: i for i, w in enumerate(self.words)}

    def tokenize(self, text):
        text = text.lower()
        for a, b in self._contractions:
            text = text.replace(a, b)
        return self._token.findall(text)

    def to_indices(self, text):
        return [self.index.get(t, self.UNK) for t in self.tokenize(text)]

    def __len__(self):
        return len(self.words)
