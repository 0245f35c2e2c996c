import random

WORDS = ("the model reads a line and writes another line about rivers ships "
         "winter bread letters stone gardens music rain and the old harbour").split()
SIGNS = [".", ",", ";", "!", "?"]


def document(index):
    rng = random.Random(9000 + index)
    parts = []
    for _ in range(rng.randint(40, 70)):
        parts.append(rng.choice(WORDS))
        if rng.random() < 0.12:
            parts[-1] += rng.choice(SIGNS)
    text = " ".join(parts)
    if index % 64 == 57:
        text += " (cf. \u00a7 %d)" % index
    return text


class Shard:
    def __init__(self, rank, world, limit=4000):
        self.indices = range(rank, limit, world)

    def __iter__(self):
        for index in self.indices:
            yield document(index)


def build_vocab(n_docs):
    symbols = sorted({ch for i in range(n_docs) for ch in document(i)})
    return {ch: i for i, ch in enumerate(symbols)}
