import torch
from torch.utils.data import Dataset


class PromptDataset(Dataset):
    """Synthetic prompts with log-normal lengths, kept in the order of the source files."""

    def __init__(self, n, vocab, max_len, seed):
        g = torch.Generator().manual_seed(seed)
        lengths = torch.empty(n).log_normal_(mean=2.6, std=0.55, generator=g).long()
        self.lengths = lengths.clamp(4, max_len)
        # chat turns at the tail of the export are acknowledgements ("ok", "thanks", ...)
        self.lengths[n - 24:][1::2] = 5
        self.tokens = [torch.randint(1, vocab, (int(k),), generator=g) for k in self.lengths]

    def __len__(self):
        return len(self.tokens)

    def __getitem__(self, i):
        return self.tokens[i]


def collate(batch):
    width = max(len(t) for t in batch)
    ids = torch.zeros(len(batch), width, dtype=torch.long)
    for row, t in enumerate(batch):
        ids[row, : len(t)] = t
    lengths = torch.tensor([len(t) for t in batch])
    return ids, lengths
