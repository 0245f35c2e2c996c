from collections import Counter


class Vocab:
    def __init__(self, min_count=2):
        self.min_count = min_count
        self.index = {"<unk>": 0}

    def fit(self, lines):
        counts = Counter(w for line in lines for w in line.split())
        for w, c in sorted(counts.items()):
            if c >= self.min_count:
                self.index.setdefault(w, len(self.index))
        return self

    def encode(self, line):
        return [self.index.get(w, 0) for w in line.split()]
