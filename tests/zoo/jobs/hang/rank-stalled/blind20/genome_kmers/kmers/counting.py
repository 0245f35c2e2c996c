import multiprocessing as mp

import numpy as np


def count_kmers(sequence, k):
    codes = np.zeros(len(sequence) - k + 1, dtype=np.int64)
    for offset in range(k):
        codes = codes * 4 + sequence[offset:offset + len(codes)]
    return np.bincount(codes, minlength=4 ** k)


def _work(contig, k, seed, results):
    results.put((contig.name, count_kmers(contig.sequence(seed), k)))


class KmerCounter:
    """Counts in child processes, one a contig, and merges in the order of the assembly."""

    def __init__(self, k, seed, context="fork"):
        self.k, self.seed = k, seed
        self.ctx = mp.get_context(context)

    def run(self, contigs):
        results = self.ctx.Queue()
        children = [self.ctx.Process(target=_work, args=(c, self.k, self.seed, results)) for c in contigs]
        for child in children:
            child.start()
        for child in children:
            child.join()
        table = dict(results.get() for _ in contigs)
        return np.stack([table[c.name] for c in contigs])
