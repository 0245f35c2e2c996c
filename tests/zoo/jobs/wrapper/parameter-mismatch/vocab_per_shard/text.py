LINES = [
    "the cat sat on the mat", "a dog lay on the rug", "the bird sang in the tree",
    "the cat saw the dog", "a bird sat on the mat", "the dog sang a song",
    "the rug lay on the tree", "a cat in a tree", "the zebra ate quince on the mat",
]


def shard(rank, world):
    return [line.split() for line in LINES[rank::world]]


class Vocab:
    def __init__(self, sentences, min_count=1):
        counts = {}
        for words in sentences:
            for w in words:
                counts[w] = counts.get(w, 0) + 1
        kept = sorted(w for w, c in counts.items() if c >= min_count)
        self.ids = {w: i + 1 for i, w in enumerate(kept)}

    def __len__(self):
        return len(self.ids) + 1

    def encode(self, words):
        return [self.ids.get(w, 0) for w in words]
