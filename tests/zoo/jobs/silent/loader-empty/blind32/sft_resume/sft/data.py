import torch
from torch.utils.data import Dataset

PAD = 0


class Instructions(Dataset):
    """Prompt and answer; the answer is the prompt reversed, and the loss is on the answer only."""

    def __init__(self, n=384, length=8, vocab=32, seed=2):
        g = torch.Generator().manual_seed(seed)
        self.prompt = torch.randint(2, vocab, (n, length), generator=g)

    def __len__(self):
        return len(self.prompt)

    def __getitem__(self, i):
        p = self.prompt[i]
        tokens = torch.cat([p, torch.tensor([1]), p.flip(0)])
        labels = tokens.clone()
        labels[: len(p) + 1] = -100
        return tokens, labels
