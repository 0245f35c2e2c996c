import torch
from torch.utils.data import Dataset

VOCAB = 40


def synth_corpus(length, seed):
    """Markov text over a small alphabet."""
    g = torch.Generator().manual_seed(seed)
    table = torch.randint(0, VOCAB, (VOCAB, 3), generator=g)
    pick = torch.multinomial(torch.tensor([0.7, 0.2, 0.1]), length, replacement=True, generator=g)
    out = [1]
    for i in range(length - 1):
        out.append(int(table[out[-1], pick[i]]))
    return torch.tensor(out)


class Blocks(Dataset):
    def __init__(self, tokens, context):
        self.tokens, self.context = tokens, context

    def __len__(self):
        return (len(self.tokens) - 1) // self.context

    def __getitem__(self, i):
        start = i * self.context
        chunk = self.tokens[start:start + self.context + 1]
        return chunk[:-1], chunk[1:]
