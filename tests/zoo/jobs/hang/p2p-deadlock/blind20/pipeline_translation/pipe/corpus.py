import torch


class PairCorpus:
    """Padded source and target sentences. Both stages make the same batches from the same seed."""

    def __init__(self, vocab, length, micro, per_step, seed):
        self.vocab, self.length, self.micro, self.per_step = vocab, length, micro, per_step
        self.generator = torch.Generator().manual_seed(seed)

    def _micro_batch(self):
        tokens = torch.randint(1, self.vocab, (self.micro, self.length), generator=self.generator)
        lengths = torch.randint(1, self.length + 1, (self.micro,), generator=self.generator)
        mask = torch.arange(self.length)[None] < lengths[:, None]
        source = tokens * mask
        target = ((tokens * 3 + 1) % self.vocab) * mask
        return source, target

    def step(self):
        return [self._micro_batch() for _ in range(self.per_step)]


def density(source):
    return (source != 0).float().mean().item()
