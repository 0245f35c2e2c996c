"""The same by numbers, or of a fixed width, or with no end taken."""

import os
import re
import shutil

import torch

PREFIX = "iter"


def is_checkpoint(folder, name):
    return name.startswith("step_") and os.path.isdir(os.path.join(folder, name))


def list_checkpoints(folder):
    names = [one for one in os.listdir(folder) if is_checkpoint(folder, one)]
    return sorted(names, key=lambda one: int(one.split("_")[-1]))


def newest(folder):
    names = list_checkpoints(folder)
    return os.path.join(folder, names[-1]) if names else None


def shown(folder):
    for name in sorted(one for one in os.listdir(folder) if is_checkpoint(folder, one)):
        print(name)


def save(model, folder, step):
    os.makedirs(os.path.join(folder, f"step_{step}"))
    torch.save(model.state_dict(), os.path.join(folder, f"step_{step}", "state.pt"))


def save_epoch(model, folder, epoch):
    torch.save(model.state_dict(), os.path.join(folder, "epoch" + str(epoch)))


def rotate(folder, most):
    kept = []
    for name in os.listdir(folder):
        match = re.match(r"^epoch(\d+)$", name)
        if match:
            kept.append((int(match[1]), name))
    kept.sort()
    for _, old in kept[:-most]:
        shutil.rmtree(os.path.join(folder, old))


def save_iteration(model, folder, iteration):
    torch.save(model.state_dict(), os.path.join(folder, f"{PREFIX}-{iteration:07d}.pt"))


def saved(folder):
    return [path for path in os.listdir(folder) if path.startswith(PREFIX)]


def last_iteration(folder):
    return max(saved(folder))


def numbers(folder):
    return [int(one.partition("_")[2]) for one in os.listdir(folder) if one.startswith("step_")]


def last_step(folder):
    return max(numbers(folder))
