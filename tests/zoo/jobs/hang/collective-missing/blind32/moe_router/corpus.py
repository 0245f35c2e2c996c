import torch


class CallLogs:
    """Short bursts of machine events; few tokens a rank and step, as the latency budget wants."""

    def __init__(self, vocab, rank, seed=0):
        g = torch.Generator().manual_seed(seed)
        self.table = torch.softmax(3.0 * torch.randn(vocab, vocab, generator=g), -1)
        self.g = torch.Generator().manual_seed(100 + rank)
        self.vocab = vocab

    def batch(self, size, length):
        rows = [torch.randint(0, self.vocab, (size,), generator=self.g)]
        for _ in range(length):
            rows.append(torch.multinomial(self.table[rows[-1]], 1, generator=self.g).flatten())
        seq = torch.stack(rows, 1)
        return seq[:, :-1], seq[:, 1:]
