import os
import time

import wandb


class Tracker:
    def __init__(self, project, config, enabled=True):
        self.run = None
        self.t0 = time.time()
        self.rank = int(os.environ.get("RANK", "0"))
        if enabled and self.rank == 0 and os.environ.get("WANDB_MODE") != "disabled":
            self.run = wandb.init(project=project, config=config, name=config["name"])

    def log(self, step, **values):
        if self.run is not None:
            self.run.log({**values, "minutes": (time.time() - self.t0) / 60}, step=step)

    def close(self):
        if self.run is not None:
            self.run.finish()
