import os
import shutil
from dataclasses import dataclass
from pathlib import Path


@dataclass
class Config:
    folder: str = "out"
    keep_last: int = -1


class Keeper:
    def __init__(self, config: Config):
        self.config = config

    def prune(self):
        found = sorted(Path(self.config.folder).glob("step_*"), key=os.path.getmtime)
        if len(found) > self.config.keep_last:
            for old in found[: len(found) - self.config.keep_last]:
                shutil.rmtree(old)
