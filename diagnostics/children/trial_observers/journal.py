r"""The file "structures" of a request: one JSON object a line, each written before what it tells of can crash.

    {"building": "package.module.Class#2", "class_name", "place", "inside": "package.module.Parent#0",
     "args": [...], "kwargs": {...}}                 a constructor begins; arguments as in `arguments.py`
    {"built": "package.module.Class#2"}              it came to its end
    {"tree": [ModuleNode as JSON, ...]}              the model
    {"forward": 1}                                   a recorded forward begins; what follows replaces what was known
                                                     of the modules that it calls
    {"enter": "blocks.0.attn", "number": 7, "grad": true, "autocast": "bfloat16" or "", "training": true,
     "args": STRUCTURE, "kwargs": STRUCTURE,         a module is called; structures as in `structures.py`
     "signature": [...]}                             what unlike calls of it are told apart by
    {"leave": 7, "output": STRUCTURE, "mutates": [0], "sets": {"aux_loss": STRUCTURE}}
                                                     it came to its end: what it gave, which of the input tensors it
                                                     changed in place, which attributes it set

That is of rank 0; those of the other ranks are FILE.rank1, FILE.rank2... Beside each lies its folder, FILE.d, with
"enter-7.pt" and "leave-7.pt": lists of the tensors and objects that are "stored".
The number of "enter" counts over all forwards of the file.
"""

import json
import os
import shutil
from pathlib import Path

import torch

KEPT_BYTES = 512 << 20  # of all that is stored


class Journal:
    """Writes the file."""

    def __init__(self, file):
        self.file, self.folder = Path(file), folder_of(file)
        self.left = KEPT_BYTES

    def begin(self):
        """Starts anew: what an earlier run left is no longer true."""
        self.file.write_text("", encoding="utf-8")
        shutil.rmtree(self.folder, ignore_errors=True)

    def write(self, **line):
        """Adds a line; it is in the kernel's hands when this returns."""
        target = os.open(str(self.file), os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            os.write(target, (json.dumps(line, default=str) + "\n").encode())
        finally:
            os.close(target)

    def store(self, name, values):
        """Keeps what descriptions refer to; beyond the limit nothing more is kept."""
        size = sum(one.numel() * one.element_size() for one in values if isinstance(one, torch.Tensor))
        if not values or size > self.left:
            return
        self.left -= size
        self.folder.mkdir(exist_ok=True)
        torch.save(values, str(self.folder / (name + ".pt")))


def file_of_rank(file, rank):
    """Returns where a rank writes: each has batches of its own, and what its modules give is its own."""
    return "%s.rank%d" % (file, rank) if file and rank else file


def folder_of(file):
    """Returns where the stored values of a file lie."""
    return Path(str(file) + ".d")


def lines(file):
    """Returns the lines of a file, [] where there is none; the last one may have been cut off."""
    if not file or not Path(file).is_file():
        return []
    found = []
    for line in Path(file).read_text(encoding="utf-8").splitlines():
        try:
            found.append(json.loads(line))
        except ValueError:
            break
    return found


def stored(file, name):
    """Returns what was stored under this name, None where nothing was."""
    place = folder_of(file) / (name + ".pt")
    if not place.is_file():
        return None
    try:
        return torch.load(str(place), map_location="cpu", weights_only=False)
    except TypeError:  # torch before 1.13 has no such argument
        return torch.load(str(place), map_location="cpu")
