import argparse
from dataclasses import dataclass, field


@dataclass
class Training:
    steps: int = 60
    seq_len: int = 24
    batch_size: int = 4
    lr: float = 1e-3


@dataclass
class Checkpoint:
    enable: bool = True
    interval: int = 20


@dataclass
class JobConfig:
    training: Training = field(default_factory=Training)
    checkpoint: Checkpoint = field(default_factory=Checkpoint)

    @classmethod
    def parse(cls):
        parser = argparse.ArgumentParser()
        parser.add_argument("--training.steps", dest="steps", type=int, default=60)
        args = parser.parse_args()
        return cls(training=Training(steps=args.steps))
