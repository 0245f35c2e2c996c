import sysconfig
from pathlib import Path

import torch
from torch.utils.data import Dataset


class Snippets(Dataset):
    """Windows of the standard library's own source, a character a token."""

    def __init__(self, context=48, modules=("json/decoder.py", "textwrap.py", "heapq.py"), limit=40_000):
        root = Path(sysconfig.get_paths()["stdlib"])
        text = "".join((root / name).read_text() for name in modules)[:limit]
        self.ids = torch.tensor([min(max(ord(c) - 31, 0), 95) for c in text])
        self.context = context

    def __len__(self):
        return (len(self.ids) - 1) // self.context

    def __getitem__(self, i):
        at = i * self.context
        return self.ids[at: at + self.context], self.ids[at + 1: at + self.context + 1]
