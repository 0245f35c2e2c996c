import os
from dataclasses import dataclass


@dataclass
class Settings:
    corpus_root: str
    lr: float = 0.05
    seed: int = 0

    @classmethod
    def from_environment(cls):
        return cls(
            corpus_root=os.environ["CORPUS_ROOT"],
            lr=float(os.environ.get("LR", cls.lr)),
            seed=int(os.environ.get("SEED", cls.seed)),
        )
