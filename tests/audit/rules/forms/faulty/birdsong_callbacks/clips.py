from pathlib import Path

import torch
from torch.utils.data import Dataset


class SpectrogramClips(Dataset):
    def __init__(self, root):
        self.files = sorted(Path(root).glob("*/*.pt"))
        names = sorted({f.parent.name for f in self.files})
        self.index = {n: i for i, n in enumerate(names)}
        self.n_classes = len(names)

    def __len__(self):
        return len(self.files)

    def __getitem__(self, i):
        spec = torch.load(self.files[i], map_location="cpu")
        return spec.unsqueeze(0), self.index[self.files[i].parent.name]
