"""Writes the sample files of one torch version: run it by that torch's own Python.

    /path/to/python-with-old-torch tests/cache/formats/old_torch/write.py

It makes `tests/cache/formats/old_torch/<version>/<what>-<format>-<tag>.pt`. A tensor saved on a GPU differs from one
saved on the CPU in the device tag alone, which `torch.serialization.location_tag` gives; so no GPU is needed.
Python 3.7 and torch 1.0 must be able to run this.
"""

from pathlib import Path

import torch

VERSION = torch.__version__.split("+")[0].replace(".post2", "")
FOLDER = Path(__file__).resolve().parent / VERSION
FORMATS = {"legacy": False, "zip": True}


def sample():
    """A sample of a latent cache as users save it."""
    torch.manual_seed(0)
    latent = torch.randn(4, 6)
    return {
        "latent": latent,
        "mask": torch.tensor([1, 0, 1, 1], dtype=torch.uint8),
        "half": latent.half(),
        "steps": torch.arange(7),
        "rows": [latent[1], latent[2:4]],
        "meta": {"name": "cuda:5", "dt": 0.25, "shape": tuple(latent.shape)},
    }


def checkpoint():
    """A checkpoint: a model's state, its optimiser's, a parameter, a scalar and an empty tensor."""
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4), torch.nn.Linear(4, 2))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    model(torch.randn(5, 3)).sum().backward()
    optimizer.step()
    return {
        "epoch": 3,
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "scale": torch.nn.Parameter(torch.ones(2)),
        "loss": torch.tensor(0.5),
        "empty": torch.zeros(0, 3),
    }


def write(what, content, name, new, tag):
    """Saves one file; returns whether this torch knows the format."""
    path = str(FOLDER / f"{what}-{name}-{tag.replace(':', '')}.pt")
    real = torch.serialization.location_tag
    device, _, index = tag.partition(":")
    # As torch does: "cpu" is one constant, "cuda:0" a new string for each storage.
    torch.serialization.location_tag = lambda storage: device + ":" + index if index else "cpu"
    try:
        torch.save(content, path, _use_new_zipfile_serialization=new)
    except TypeError:  # before torch 1.4 there was one format and no such argument
        if new:
            return False
        torch.save(content, path)
    finally:
        torch.serialization.location_tag = real
    return True


def main():
    """Writes all files of this version."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    number = sum(int(part) for part in VERSION.split("."))
    for name, new in sorted(FORMATS.items()):
        for what, content in (("sample", sample()), ("checkpoint", checkpoint())):
            for tag in ("cpu", f"cuda:{number % 8}"):
                if not write(what, content, name, new, tag):
                    print(f"torch {VERSION} has no {name} format")
                    break


if __name__ == "__main__":
    main()
