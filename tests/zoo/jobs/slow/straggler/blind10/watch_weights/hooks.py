import json

import torch


class Hook:
    def after_step(self, trainer):
        pass


class Progress(Hook):
    def __init__(self, every):
        self.every = every

    def after_step(self, trainer):
        if trainer.rank == 0 and trainer.step % self.every == 0:
            print(f"step {trainer.step} loss {trainer.loss:.4f}", flush=True)


class WeightReport(Hook):
    """Distribution of all weights and gradients, for the dashboard."""

    levels = torch.tensor([0.01, 0.25, 0.5, 0.75, 0.99])

    def __init__(self, path):
        self.path = path

    def after_step(self, trainer):
        if trainer.rank != 0:
            return
        rows = {}
        for name, p in trainer.model.named_parameters():
            for kind, values in (("weight", p.detach()), ("grad", p.grad)):
                ordered = values.flatten().sort().values
                at = (self.levels * (len(ordered) - 1)).long()
                rows[f"{kind}/{name}"] = ordered[at].tolist()
        with open(self.path, "a") as f:
            f.write(json.dumps({"step": trainer.step, **rows}) + "\n")
