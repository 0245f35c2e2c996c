import numpy as np

BASES = np.frombuffer(b"ACGT", dtype=np.uint8)


class Contig:
    def __init__(self, name, length, gc):
        self.name, self.length, self.gc = name, length, gc

    def sequence(self, seed):
        rng = np.random.default_rng((seed, self.length))
        weights = [(1 - self.gc) / 2, self.gc / 2, self.gc / 2, (1 - self.gc) / 2]
        return rng.choice(4, size=self.length, p=weights).astype(np.int64)


def assembly(cfg):
    return [Contig(f"contig{i}", cfg["contig_length"] * (i + 1), 0.35 + 0.05 * i) for i in range(cfg["contigs"])]
