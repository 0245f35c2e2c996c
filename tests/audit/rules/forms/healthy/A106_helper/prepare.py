import torch
from pathlib import Path


class Vocabulary:
    path = Path("vocab.pt")

    @classmethod
    def build(cls):
        torch.save({"a": 1}, cls.path)

    @classmethod
    def load(cls):
        return torch.load(cls.path, weights_only=True)
