import torch
from torch.utils.data import Dataset


class Turns(Dataset):
    """Question and answer as token chains; the topic decides how the chain goes on."""

    def __init__(self, count, length, vocab, seed):
        g = torch.Generator().manual_seed(seed)
        self.topics = torch.randint(1, 6, (count,), generator=g)
        self.starts = torch.randint(vocab, (count,), generator=g)
        self.noise = torch.rand(count, length + 1, generator=g) < 0.1
        self.length, self.vocab = length, vocab

    def __len__(self):
        return len(self.topics)

    def __getitem__(self, index):
        steps = torch.arange(self.length + 1) * self.topics[index]
        chain = (self.starts[index] + steps + self.noise[index].long()) % self.vocab
        return chain[:-1], chain[1:]
