"""Reads one packed value: a pickle without tensors, its tensors beside it. It comes from the user's own run."""

import pickle
from pathlib import Path

import torch

from .drawn import drawn

MAINS = ("__main__", "__mp_main__")  # the second in processes that multiprocessing starts anew


def read(folder, name, main):
    """Returns the value packed as `name`; what it names in the script's module is looked up in `main`."""
    path = Path(folder) / (name + ".pkl")
    beside = path.with_suffix(".tensors")
    tensors = torch.load(str(beside), map_location="cpu") if beside.is_file() else []
    with path.open("rb") as file:
        return _Unpickler(file, tensors, main).load()


class _Unpickler(pickle.Unpickler):
    def __init__(self, file, tensors, main):
        super().__init__(file)
        self.tensors, self.main = tensors, main
        self.made = {}

    def find_class(self, module, name):
        if module not in MAINS:
            return super().find_class(module, name)
        value = self.main
        for part in name.split("."):
            value = getattr(value, part)
        return value

    def persistent_load(self, told):
        key = told[:2]
        if key not in self.made:
            self.made[key] = self._tensor(*told[1:]) if told[0] == "tensor" else self._module(*told[2:])
        return self.made[key]

    def _tensor(self, number, kind, requires_grad):
        value = self.tensors[number]
        if isinstance(value, dict):
            value = drawn(value, number)
        if kind == "parameter":
            return torch.nn.Parameter(value, requires_grad=requires_grad)
        return value.requires_grad_(requires_grad)

    def _module(self, cls, args, kwargs):
        return cls(*args, **kwargs)
