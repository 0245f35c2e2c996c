class Hypercube:
    """Partner of a rank in round t differs from it in one bit; highest bit first."""

    def __init__(self, rank, world):
        self.rank, self.world = rank, world
        self.bits = world.bit_length() - 1
        assert 1 << self.bits == world

    def partner(self, t):
        phase = t // 10
        return self.rank ^ (1 << (self.bits - 1 - phase % self.bits))
