import torch

BOS = 0


class Captions(torch.utils.data.Dataset):
    """Captions follow a word-successor table; which table is used depends on the picture."""

    def __init__(self, n, seed, vocab=64, length=20):
        g = torch.Generator().manual_seed(seed)
        table_gen = torch.Generator().manual_seed(5)
        tables = torch.stack([torch.randperm(vocab - 1, generator=table_gen) + 1 for _ in range(3)])
        kind = torch.randint(3, (n,), generator=g)
        basis = torch.randn(3, 16, generator=table_gen)
        self.pixels = basis[kind] + 0.3 * torch.randn(n, 16, generator=g)
        word = torch.randint(1, vocab, (n,), generator=g)
        cols = [torch.full((n,), BOS), word]
        for _ in range(length - 2):
            word = tables[kind, word - 1]
            cols.append(word)
        self.ids = torch.stack(cols, 1)

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, i):
        return {"pixel_values": self.pixels[i], "input_ids": self.ids[i], "labels": self.ids[i]}
