import os

import yaml

DEFAULT = {"System": {"Project": "", "Path": ""}, "Model": {"Hidden": 32, "Classes": 10}, "Train": {"BATCH_SIZE": 16, "LR": 0.01}}


class Config:

    def __init__(self, project):
        self.base = os.path.join("projects", project)

    @property
    def checkpoints(self):
        return os.path.join(self.base, "checkpoints")

    def load_config(self):
        path = os.path.join(self.base, "config.yaml")
        merged = {k: dict(v) for k, v in DEFAULT.items()}
        with open(path) as f:
            for section, values in (yaml.safe_load(f) or {}).items():
                merged[section].update(values)
        return merged
