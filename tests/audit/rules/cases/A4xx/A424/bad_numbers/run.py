from pathlib import Path

import torch


def save(model, root, step):
    folder = Path(root) / str(step)
    folder.mkdir(parents=True)
    torch.save(model.state_dict(), folder / "model.pt")


def newest(root):
    return sorted(one for one in Path(root).iterdir() if one.name.isdigit())[-1]
