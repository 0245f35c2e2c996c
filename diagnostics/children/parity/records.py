"""Runs of an experiment as they lie on the disk: one folder a rank, one file a step."""

import json
from pathlib import Path

import torch


class Run:
    """One run; `ranks` are the folders of its ranks in order."""

    def __init__(self, folder):
        self.folder = Path(folder)
        found = sorted(self.folder.glob("rank-*"), key=lambda one: int(one.name.rpartition("-")[2]))
        self.ranks = [one for one in found if (one / "facts.json").is_file()]
        self.facts = [json.loads((one / "facts.json").read_text(encoding="utf-8")) for one in self.ranks]
        self.world = len(self.ranks)
        self.steps = min((one.get("steps", 0) for one in self.facts), default=0)
        self._loaded = {}

    def step(self, rank, number):
        """Returns one step of one rank."""
        return self._file(rank, "step-%d.pt" % number)

    def start(self, rank):
        """Returns a rank's parameters and buffers before the first call of the model."""
        return self._file(rank, "start.pt")

    def draws(self, rank, number):
        """Returns the random numbers that a rank's model drew in one step."""
        path = self.ranks[rank] / ("draws-%d.pt" % number)
        return torch.load(path, weights_only=True) if path.is_file() else []

    @property
    def sharded(self):
        """Whether parameters are divided over the ranks."""
        return any(one is not None for group in self.facts[0].get("shards", []) for one in group)

    def tensors(self, rank, number, key):
        """Returns (optimizer, place, tensor) of "gradients" or "after" as this rank has them; shards made whole."""
        return self.whole([self.step(one, number)[key] for one in range(self.world)], rank)

    def whole(self, parts, rank):
        """Returns one flat list of tensors: the rank's own, or, where they are shards, all ranks' joined."""
        shards = self.facts[0].get("shards", [])
        found = []
        for group in range(len(parts[rank])):
            for place in range(len(parts[rank][group])):
                dimension = shards[group][place] if group < len(shards) and place < len(shards[group]) else None
                own = parts[rank][group][place]
                if dimension is not None and self.world > 1 and own is not None:
                    own = torch.cat([part[group][place] for part in parts if part[group][place] is not None], dimension)
                found.append(own)
        return found

    def names(self):
        """Returns the parameters' names in the order of `tensors`."""
        return [name for group in self.facts[0].get("names", []) for name in group]

    def _file(self, rank, name):
        if (rank, name) not in self._loaded:
            path = self.ranks[rank] / name
            self._loaded[rank, name] = torch.load(path, weights_only=True)
        return self._loaded[rank, name]


def runs_of(folder):
    """Returns every run of an experiment that came to a step, by its name."""
    found = {}
    for one in sorted(Path(folder).iterdir()):
        run = Run(one) if one.is_dir() and any(one.glob("rank-*")) else None
        if run is not None and run.steps:
            found[one.name] = run
    return found
