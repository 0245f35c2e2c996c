import torch
from torch.utils.data import Dataset


class Conversations(Dataset):
    """Turns of very different length; runs of short ones come from chats that ended early."""

    def __init__(self, n, vocab, seed):
        g = torch.Generator().manual_seed(seed)
        self.rows = []
        for i in range(n):
            short = (i // 48) % 5 == 3 and i % 2 == 1
            length = int(torch.randint(2, 5, (1,), generator=g)) if short else int(torch.randint(12, 30, (1,), generator=g))
            start = int(torch.randint(1, vocab, (1,), generator=g))
            step = 1 + i % 3
            self.rows.append((start + step * torch.arange(length)) % (vocab - 1) + 1)

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]


def collate(rows):
    lengths = torch.tensor([len(r) for r in rows])
    ids = torch.zeros(len(rows), int(lengths.max()), dtype=torch.long)
    for k, r in enumerate(rows):
        ids[k, : len(r)] = r
    return {"input_ids": ids, "lengths": lengths}
