import glob
import os

import torch
import torch.distributed as dist


class Keeper:
    def __init__(self, folder, keep=2):
        self.folder, self.keep = folder, keep

    def files(self):
        return sorted(glob.glob(os.path.join(self.folder, "epoch-*.pt")))

    def save(self, epoch, model, optimizer):
        if dist.get_rank() != 0:
            return
        os.makedirs(self.folder, exist_ok=True)
        blob = {"epoch": epoch, "model": model.state_dict(), "optimizer": optimizer.state_dict()}
        torch.save(blob, os.path.join(self.folder, f"epoch-{epoch:04d}.pt"))
        for old in self.files()[: -self.keep]:
            os.remove(old)

    def restore(self, model, optimizer):
        start = 0
        dist.barrier()
        if self.files():
            blob = torch.load(self.files()[-1], map_location="cpu")
            model.load_state_dict(blob["model"])
            optimizer.load_state_dict(blob["optimizer"])
            start = blob["epoch"] + 1
        return start
