"""The command line with one rank of one with many."""

from __future__ import annotations

import re
from collections.abc import Sequence

_COUNTS = ("--nproc-per-node", "--nproc_per_node", "--num_processes", "--num-processes", "--num_gpus", "-np", "-n")
_LAUNCHERS = re.compile(r"(?:^|/)(?:torchrun|accelerate|deepspeed|mpirun|mpiexec)$")
_MODULES = ("torch.distributed.run", "torch.distributed.launch", "accelerate.commands.launch")


def with_one_rank(command: Sequence[str]) -> tuple[str, ...] | None:
    """Returns the command that starts one rank, None where it cannot be told what to change."""
    if not any(_LAUNCHERS.search(word) for word in command[:4]) and not any(word in _MODULES for word in command[:6]):
        return None
    words = list(command)
    for at, word in enumerate(words):
        name, equals, _ = word.partition("=")
        if name in _COUNTS and equals:
            words[at] = f"{name}=1"
            return tuple(words)
        if word in _COUNTS and at + 1 < len(words):
            words[at + 1] = "1"
            return tuple(words)
        if word.endswith(".py"):  # what follows is the script's own
            return None
    return None
