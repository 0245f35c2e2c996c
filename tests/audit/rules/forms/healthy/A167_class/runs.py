import time
from pathlib import Path


class Run:
    def __init__(self, base):
        self.folder = Path(base) / time.strftime("%Y-%m-%d_%H-%M-%S")

    @property
    def weights(self):
        return self.folder / "weights.pt"
