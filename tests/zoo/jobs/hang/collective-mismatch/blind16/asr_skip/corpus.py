import torch


class Utterances:
    def __init__(self, rank, n, feat, vocab, fast_speech=()):
        g = torch.Generator().manual_seed(60 + rank)
        self.items = []
        for k in range(n):
            L = int(torch.randint(3, 9, (1,), generator=g))
            T = L * 4 + 8
            if (rank, k) in fast_speech:
                L, T = 14, 20
            y = torch.randint(1, vocab, (L,), generator=g)
            x = torch.randn(T, feat, generator=g)
            self.items.append((x, y))

    def batches(self, size, seed):
        order = torch.randperm(len(self.items), generator=torch.Generator().manual_seed(seed)).tolist()
        for i in range(0, len(order) - size + 1, size):
            yield [self.items[j] for j in order[i:i + size]]


def pack(batch):
    xl = torch.tensor([len(x) for x, _ in batch])
    yl = torch.tensor([len(y) for _, y in batch])
    x = torch.nn.utils.rnn.pad_sequence([x for x, _ in batch], batch_first=True)
    return x, xl, torch.cat([y for _, y in batch]), yl
