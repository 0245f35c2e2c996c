from dataclasses import dataclass, fields

import yaml


@dataclass
class TrainConfig:
    save_folder: str = "runs/multitask"
    allow_resume: bool = True
    max_steps: int = 60
    save_interval: int = 20
    log_interval: int = 10
    batch_size: int = 16
    lr: float = 3e-3
    features: int = 40
    seed: int = 6198

    @classmethod
    def load(cls, path, overrides):
        with open(path) as f:
            values = yaml.safe_load(f) or {}
        for item in overrides:
            key, _, value = item.lstrip("-").partition("=")
            values[key] = yaml.safe_load(value)
        known = {f.name for f in fields(cls)}
        unknown = set(values) - known
        if unknown:
            raise ValueError(f"unknown settings {sorted(unknown)}")
        return cls(**values)
