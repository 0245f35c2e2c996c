import torch


class TokenStream:
    """Infinite stream of token blocks with a position that can be saved."""

    def __init__(self, vocab, block, rank, seed=0):
        self.vocab, self.block = vocab, block
        self.generator = torch.Generator().manual_seed(seed + rank)
        self.position = 0

    def next_batch(self, size):
        self.position += size
        start = torch.randint(0, self.vocab, (size, 1), generator=self.generator)
        return (start + torch.arange(self.block + 1)) % self.vocab

    def _order(self):
        return (x for x in range(self.position, self.position + self.block))

    def state_dict(self):
        return Cursor(self.position, self._order())


class Cursor(dict):

    def __init__(self, position, order):
        super().__init__(position=position)
        self.order = order

    def __deepcopy__(self, memo):
        return Cursor(self["position"], self.order)
