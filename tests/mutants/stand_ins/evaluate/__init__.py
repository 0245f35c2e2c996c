"""A stand-in for evaluate: the share of right answers."""


class Accuracy:
    def __init__(self):
        self.hits = self.seen = 0

    def add_batch(self, predictions, references):
        self.hits += int((predictions == references).sum())
        self.seen += len(references)

    def compute(self):
        return {"accuracy": self.hits / max(self.seen, 1)}


def load(*names):
    return Accuracy()
