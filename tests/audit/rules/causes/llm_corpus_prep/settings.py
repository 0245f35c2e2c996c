from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True)
class Settings:
    model: str = "EleutherAI/pythia-410m"
    corpus: str = "corpus/*.jsonl"
    packed: str = "corpus/packed.pt"
    length: int = 2048
    batch: int = 4
    lr: float = 1e-5
    epochs: int = 1
    timeout: timedelta = timedelta(seconds=60)  # cause
