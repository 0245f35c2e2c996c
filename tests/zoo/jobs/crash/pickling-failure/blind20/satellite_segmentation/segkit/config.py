from dataclasses import dataclass, field
from typing import List

import yaml


@dataclass
class Config:
    seed: int = 0
    data: dict = field(default_factory=dict)
    model: dict = field(default_factory=dict)
    optim: dict = field(default_factory=dict)
    trainer: dict = field(default_factory=dict)
    callbacks: List[str] = field(default_factory=list)

    @classmethod
    def from_file(cls, path):
        with open(path) as handle:
            return cls(**yaml.safe_load(handle))
