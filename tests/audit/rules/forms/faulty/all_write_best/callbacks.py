from pathlib import Path

import torch
import torch.distributed as dist


class Callback:
    def after_epoch(self, trainer, metrics):
        pass


class BestModel(Callback):
    def __init__(self, folder, key="auc"):
        self.path = Path(folder) / "best.pt"
        self.key = key
        self.best = float("-inf")

    def after_epoch(self, trainer, metrics):
        value = metrics[self.key]
        if value <= self.best:
            return
        self.best = value  # cause
        self.path.parent.mkdir(parents=True, exist_ok=True)
        torch.save({"model": trainer.model.module.state_dict(), self.key: value}, self.path)  # cause


class Printer(Callback):
    def after_epoch(self, trainer, metrics):
        if dist.get_rank() == 0:
            print(f"[{trainer.epoch}] " + " ".join(f"{k}={v:.4f}" for k, v in metrics.items()), flush=True)
