"""The names are picked by functions, one by one in a loop, by a regular expression, and by a constant."""

import os
import re
import shutil

import torch

PREFIX = "iter"


def is_checkpoint(folder, name):
    return name.startswith("step_") and os.path.isdir(os.path.join(folder, name))


def list_checkpoints(folder):
    names = [one for one in os.listdir(folder) if is_checkpoint(folder, one)]
    return sorted(names)


def newest(folder):
    names = list_checkpoints(folder)
    return os.path.join(folder, names[-1]) if names else None


def save(model, folder, step):
    os.makedirs(os.path.join(folder, f"step_{step}"))
    torch.save(model.state_dict(), os.path.join(folder, f"step_{step}", "state.pt"))


def save_epoch(model, folder, epoch):
    torch.save(model.state_dict(), os.path.join(folder, "epoch" + str(epoch)))


def rotate(folder, most):
    kept = []
    for name in os.listdir(folder):
        if re.match(r"^epoch(\d+)$", name):
            kept.append(name)
    kept.sort()
    for old in kept[:-most]:
        shutil.rmtree(os.path.join(folder, old))


def save_iteration(model, folder, iteration):
    torch.save(model.state_dict(), os.path.join(folder, f"{PREFIX}-{iteration}.pt"))


def saved(folder):
    return [path for path in os.listdir(folder) if path.startswith(PREFIX)]


def last_iteration(folder):
    return max(saved(folder))


def last_of(names):
    return sorted(names)[-1] if names else None


def resumed(folder):
    return last_of(os.listdir(os.path.join(folder, "iter")))
