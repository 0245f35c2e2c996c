from dataclasses import asdict, is_dataclass

import wandb


class Tracker:
    def __init__(self, project, cfg, name=None):
        config = asdict(cfg) if is_dataclass(cfg) else dict(cfg)
        self.run = wandb.init(project=project, name=name, config=config)  # cause
        self.step = 0

    def log(self, **values):
        self.run.log(values, step=self.step)

    def advance(self, n=1):
        self.step += n

    def close(self):
        self.run.finish()
