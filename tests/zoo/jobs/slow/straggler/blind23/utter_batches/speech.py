import torch
from torch.utils.data import Dataset


class Utterances(Dataset):
    def __init__(self, n, seed, mels=20, speakers=6):
        g = torch.Generator().manual_seed(seed)
        voice = torch.randn(speakers, mels, generator=torch.Generator().manual_seed(9))
        self.lengths = (30 * torch.exp(0.9 * torch.randn(n, generator=g))).clamp(12, 240).long().tolist()
        self.y = torch.randint(speakers, (n,), generator=g).tolist()
        self.x = [voice[y] * 0.4 + torch.randn(t, mels, generator=g) for t, y in zip(self.lengths, self.y)]

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


def pad(batch):
    xs, ys = zip(*batch)
    lengths = torch.tensor([len(x) for x in xs])
    return torch.nn.utils.rnn.pad_sequence(xs, batch_first=True), lengths, torch.tensor(ys)
