import os
import re
import shutil
from glob import glob
from pathlib import Path

import torch


class Keeper:
    def __init__(self, root, most):
        self.root, self.most = Path(root), most

    @staticmethod
    def _saved(root):
        found = (one for one in Path(root).glob("epoch_*_step_*") if one.is_dir())
        return sorted(found, key=lambda one: tuple(int(n) for n in re.findall(r"\d+", one.name)))

    def save(self, model, epoch, step):
        target = self.root / f"epoch_{epoch}_step_{step}"
        target.mkdir(parents=True)
        torch.save(model.state_dict(), target / "model.bin")
        for old in self._saved(self.root)[: -self.most]:
            shutil.rmtree(old)


def write(model, folder, update):
    torch.save(model.state_dict(), os.path.join(folder, f"state-{update}.pt"))


def newest(folder):
    return max(glob(os.path.join(folder, "state-*.pt")), key=os.path.getmtime)


def newest_by_table(folder, steps):
    return max(glob(os.path.join(folder, "state-*.pt")), key=lambda path: steps[path])


def newest_by_length(folder):
    return sorted(glob(os.path.join(folder, "state-*.pt")), key=lambda path: (len(path), path))[-1]


def shown(folder):
    for path in sorted(glob(os.path.join(folder, "state-*.pt")), key=os.path.basename):
        print(path)


def write_wide(model, folder, epoch, step):
    torch.save(model.state_dict(), f"{folder}/ep_{epoch:03d}_iter_{step:07d}.pt")


def newest_of_wide(folder):
    return sorted(Path(folder).glob("ep_*_iter_*.pt"), key=lambda path: path.stem)[-1]
