class TokenBatches:
    """Batches of about as many tokens each."""

    def __init__(self, lengths, budget, rank, world):
        self.mine = list(range(rank, len(lengths), world))
        self.lengths, self.budget = lengths, budget

    def __iter__(self):
        batch, used = [], 0
        for index in self.mine:
            if used + self.lengths[index] > self.budget and batch:
                yield batch
                batch, used = [], 0
            batch.append(index)
            used += self.lengths[index]
        if batch:
            yield batch
