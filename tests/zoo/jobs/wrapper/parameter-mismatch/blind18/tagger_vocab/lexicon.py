from collections import Counter


class Lexicon:
    def __init__(self, min_count=1):
        self.min_count = min_count
        self.index = {"<pad>": 0, "<unk>": 1}

    def fit(self, sentences):
        counts = Counter(w for s in sentences for w in s)
        for w, c in sorted(counts.items()):
            if c >= self.min_count:
                self.index[w] = len(self.index)
        return self

    def __len__(self):
        return len(self.index)

    def ids(self, sentence):
        return [self.index.get(w, 1) for w in sentence]
