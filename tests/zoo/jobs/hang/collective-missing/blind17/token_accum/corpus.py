import random

import torch


class BucketedCorpus:
    """Sentences bucketed by length, one contiguous range of buckets per rank."""

    def __init__(self, n, vocab, seed, max_sentences):
        rng = random.Random(seed)
        lengths = sorted(min(60, 6 + int(rng.expovariate(1 / 14))) for _ in range(n))
        self.vocab = vocab
        self.batches = [lengths[i:i + max_sentences] for i in range(0, n, max_sentences)]
        rng.shuffle(self.batches)

    def shard(self, rank, world):
        return self.batches[rank::world]

    def tensors(self, lengths, gen):
        width = max(lengths)
        ids = torch.randint(1, self.vocab, (len(lengths), width), generator=gen)
        for row, n in enumerate(lengths):
            ids[row, n:] = 0
        return ids
