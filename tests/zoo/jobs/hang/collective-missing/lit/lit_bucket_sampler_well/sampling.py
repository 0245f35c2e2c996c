class LengthBuckets:
    """Batches of about as many words each; every rank takes its part of the documents."""

    def __init__(self, lengths, words, rank, world):
        self.rows = list(range(len(lengths)))
        self.lengths, self.words = lengths, words
        batches = self.make()
        self.batches = batches[: len(batches) // world * world][rank::world]

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
