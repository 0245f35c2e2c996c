import torch
from torch.utils.data import Dataset


class PreferencePairs(Dataset):
    """Chosen answers hold more tokens of the upper half of the vocabulary."""

    def __init__(self, cfg, n=256):
        g = torch.Generator().manual_seed(8)
        self.chosen = torch.randint(cfg.vocab // 3, cfg.vocab, (n, cfg.max_length), generator=g)
        self.rejected = torch.randint(0, 2 * cfg.vocab // 3, (n, cfg.max_length), generator=g)

    def __len__(self):
        return len(self.chosen)

    def __getitem__(self, i):
        return {"input_ids_chosen": self.chosen[i], "input_ids_rejected": self.rejected[i]}
