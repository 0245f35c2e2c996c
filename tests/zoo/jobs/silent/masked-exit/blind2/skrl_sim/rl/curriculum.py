class Curriculum:
    """Terrain levels per group of environments."""

    LEVELS = {0: "flat", 1: "rough", 2: "stairs"}
    GAINS = {"flat": 1.0, "rough": 1.4}

    def __init__(self, rank):
        self.rank = rank

    def gain(self, iteration):
        level = min(iteration // 10, 1) + (1 if self.rank == 1 and iteration >= 20 else 0)
        return self.GAINS[self.LEVELS[level]]
