import torch
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import Dataset

LETTERS = "abcdefghijklmnopqrst"


class Utterances(Dataset):
    """Spoken letter strings as sequences of filterbank frames; speakers differ in how fast they talk."""

    def __init__(self, n, seed, mel=16):
        voice = torch.Generator().manual_seed(0)
        self.shape = torch.randn(len(LETTERS), mel, generator=voice)
        g = torch.Generator().manual_seed(seed)
        self.items = []
        for _ in range(n):
            length = int(torch.randint(4, 12, (1,), generator=g))
            letters = torch.randint(0, len(LETTERS), (length,), generator=g)
            pace = int(torch.randint(4, 13, (1,), generator=g))
            frames = self.shape[letters].repeat_interleave(pace, dim=0)
            frames = frames + 0.6 * torch.randn(frames.shape, generator=g)
            self.items.append((frames, letters + 1))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


def collate(batch):
    frames, labels = zip(*batch)
    frame_lengths = torch.tensor([len(f) for f in frames])
    label_lengths = torch.tensor([len(y) for y in labels])
    return pad_sequence(frames, batch_first=True), frame_lengths, torch.cat(labels), label_lengths
