"""Counts words and gives them numbers."""
import collections


class Vocabulary:
    def __init__(self, limit):
        self.limit = limit
        self.numbers = {}

    def fit(self, lines):
        counts = collections.Counter(word for line in lines for word in line.split())
        self.numbers = {word: number for number, (word, _) in enumerate(counts.most_common(self.limit))}
        return self

    def __len__(self):
        return len(self.numbers)

    def encode(self, line):
        return [self.numbers[word] for word in line.split()]
