class LengthBuckets:
    """Batches of about as many words each; every rank takes its part of the documents."""

    def __init__(self, lengths, words, rank, world):
        share = len(lengths) // world
        self.rows = list(range(rank * share, (rank + 1) * share))
        self.lengths, self.words = lengths, words
        self.batches = self.make()

    def make(self):
        batches, batch, words = [], [], 0
        for row in self.rows:
            batch.append(row)
            words += self.lengths[row]
            if words >= self.words:
                batches.append(batch)
                batch, words = [], 0
        return batches

    def __iter__(self):
        return iter(self.batches)

    def __len__(self):
        return len(self.batches)
