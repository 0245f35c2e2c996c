from pathlib import Path

import torch
from loaders import make_loader


class Trial:
    def __init__(self, out):
        self.out = Path(out)
        self.step = 0
        self.model = torch.nn.Linear(4, 1)
        if self.latest.exists():
            self.load()
        self.loader = make_loader(skip_batches=self.step)

    @property
    def latest(self):
        return self.out / "latest.pt"

    def load(self):
        kept = torch.load(self.latest)
        self.model.load_state_dict(kept["model"])
        self.step = kept["step"]

    def run(self):
        for x in self.loader:
            self.model(x).mean().backward()
            self.step += 1
