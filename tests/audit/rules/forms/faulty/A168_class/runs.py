import shutil
from pathlib import Path


class Workspace:
    def __init__(self, base):
        self.base = Path(base)

    def reset(self):
        if self.base.exists():
            shutil.rmtree(self.base)  # cause
        self.base.mkdir()  # cause
