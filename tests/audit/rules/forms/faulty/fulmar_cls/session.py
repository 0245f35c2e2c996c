import os
from pathlib import Path

import torch
import torch.distributed as dist


class Session:
    def __init__(self, folder, net, opt, sched):
        self.path = Path(folder) / "session.pt"
        self.net, self.opt, self.sched = net, opt, sched
        self.epoch, self.best = 0, 0.0

    def resume(self):
        if not self.path.is_file():
            return self
        saved = torch.load(self.path, weights_only=True)  # cause
        self.net.module.load_state_dict(saved["net"])
        self.opt.load_state_dict(saved["opt"])
        self.sched.load_state_dict(saved["sched"])
        self.epoch, self.best = saved["epoch"] + 1, saved["best"]
        return self

    def store(self, epoch, score):
        self.best = max(self.best, score)
        if dist.get_rank() == 0:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            part = self.path.with_suffix(".part")
            torch.save(
                {
                    "net": self.net.module.state_dict(),
                    "opt": self.opt.state_dict(),
                    "sched": self.sched.state_dict(),
                    "epoch": epoch,
                    "best": self.best,
                },
                part,
            )
            os.replace(part, self.path)
        dist.barrier()
