class Balancer:
    """How many parts each rank has to index."""

    def __init__(self, world):
        self.lengths = [0] * world

    def add(self, rank, count):
        self.lengths[rank] += count

    def shortest(self):
        return self.lengths.index(min(self.lengths))
