import wandb


class Tracker:
    def __init__(self, cfg):
        self.run = wandb.init(project=cfg["project"])  # cause

    def log(self, values):
        self.run.log(values)
