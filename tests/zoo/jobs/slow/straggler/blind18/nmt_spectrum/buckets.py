import random


class BucketedSplit:
    def __init__(self, lengths, batch, rank, world):
        order = sorted(range(len(lengths)), key=lengths.__getitem__)
        groups = [order[i:i + batch] for i in range(0, len(order) - batch + 1, batch)]
        per = len(groups) // world
        self.groups = groups[rank::world][:per]

    def epoch(self, seed):
        g = list(self.groups)
        random.Random(seed).shuffle(g)
        return g
