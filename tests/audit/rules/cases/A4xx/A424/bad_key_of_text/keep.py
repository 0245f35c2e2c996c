import os
import shutil
from glob import glob
from pathlib import Path

import torch


class Keeper:
    def __init__(self, root, most):
        self.root, self.most = Path(root), most

    @staticmethod
    def _saved(root):
        return sorted((one for one in Path(root).glob("epoch_*_step_*") if one.is_dir()), key=lambda one: one.name)

    def save(self, model, epoch, step):
        target = self.root / f"epoch_{epoch}_step_{step}"
        target.mkdir(parents=True)
        torch.save(model.state_dict(), target / "model.bin")
        for old in self._saved(self.root)[: -self.most]:
            shutil.rmtree(old)


def write(model, folder, update):
    torch.save(model.state_dict(), os.path.join(folder, f"state-{update}.pt"))


def newest(folder):
    return max(glob(os.path.join(folder, "state-*.pt")), key=os.path.basename)


def write_both(model, folder, epoch, step):
    torch.save(model.state_dict(), f"{folder}/ep_{epoch:03d}_iter_{step}.pt")


def newest_by_pattern(folder):
    return sorted(glob(f"{folder}/ep_*_iter_*.pt"), key=lambda path: os.path.basename(path).rsplit(".", 1)[0])[-1]
