from pathlib import Path

import torch


def save(model, root, step):
    folder = Path(root) / str(step)
    folder.mkdir(parents=True)
    torch.save(model.state_dict(), folder / "model.pt")


def newest(root):
    numbered = [one for one in Path(root).iterdir() if one.name.isdigit()]
    return max(numbered, key=lambda one: int(one.name))


def shown(root):
    for one in sorted(one for one in Path(root).iterdir() if one.name.isdigit()):
        print(one)
