import torch
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import Dataset

PAD = 0


class Pairs(Dataset):
    def __init__(self, n=1800, vocab=90, seed=21):
        g = torch.Generator().manual_seed(seed)
        self.lengths = (4 + 30 * torch.rand(n, generator=g) ** 2).long().tolist()
        self.text = [torch.randint(1, vocab, (k,), generator=g) for k in self.lengths]

    def __len__(self):
        return len(self.text)

    def __getitem__(self, i):
        return self.text[i]


def collate(rows):
    source = pad_sequence(rows, batch_first=True, padding_value=PAD)
    return source, source.clone()
