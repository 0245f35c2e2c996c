import json
from dataclasses import dataclass, fields
from pathlib import Path


@dataclass
class Settings:
    corpus: str = "corpus.pt"
    output: str = "lm.pt"
    backend: str = "nccl"
    timeout_min: int = 30  # cause
    batch: int = 32
    epochs: int = 5
    lr: float = 6e-4
    dim: int = 384

    @classmethod
    def read(cls, path):
        raw = json.loads(Path(path).read_text())
        known = {f.name for f in fields(cls)}
        unknown = set(raw) - known
        if unknown:
            raise KeyError(f"unknown settings: {sorted(unknown)}")
        return cls(**raw)
