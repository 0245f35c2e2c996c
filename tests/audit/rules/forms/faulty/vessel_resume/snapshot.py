import os

import torch
import torch.distributed as dist


class Snapshot:
    def __init__(self, path):
        self.path = path

    def save(self, model, opt, sched, epoch):
        if dist.get_rank() != 0:
            return
        blob = {
            "model": model.module.state_dict(),
            "opt": opt.state_dict(),
            "sched": sched.state_dict(),
            "epoch": epoch,
        }
        torch.save(blob, self.path + ".part")
        os.replace(self.path + ".part", self.path)

    def restore(self, model, opt, sched):
        if not os.path.exists(self.path):
            return 0
        blob = torch.load(self.path)  # cause
        model.module.load_state_dict(blob["model"])
        opt.load_state_dict(blob["opt"])
        sched.load_state_dict(blob["sched"])
        return blob["epoch"] + 1
