import torch


class SpanBatcher:
    def __init__(self, docs, width, rank, world):
        self.docs = docs[rank::world]
        self.width = width

    def __iter__(self):
        for doc in self.docs:
            start = max(0, len(doc) - self.width)
            span = doc[start:start + self.width]
            yield span, span[self.width // 2]


def make_docs(n, seed):
    gen = torch.Generator().manual_seed(seed)
    docs = [torch.randint(1, 200, (int(40 + 60 * torch.rand(1, generator=gen)),), generator=gen) for _ in range(n)]
    docs[int(n * 0.77) // 2 * 2 + 1] = docs[0][:6]
    return docs
