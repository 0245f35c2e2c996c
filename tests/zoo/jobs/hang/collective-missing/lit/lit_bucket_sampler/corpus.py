import torch
from torch.utils.data import Dataset


class Corpus(Dataset):
    def __init__(self, count):
        generator = torch.Generator().manual_seed(9)
        self.lengths = torch.randint(5, 60, (count,), generator=generator).sort().values.tolist()

    def __len__(self):
        return len(self.lengths)

    def __getitem__(self, i):
        words = torch.randint(300, (self.lengths[i],), generator=torch.Generator().manual_seed(i))
        return words, int(words[0] % 2)


def collate(rows):
    offsets = torch.tensor([0] + [len(words) for words, _ in rows[:-1]]).cumsum(0)
    return torch.cat([words for words, _ in rows]), offsets, torch.tensor([label for _, label in rows])
