"""A launcher that starts two ranks and loses a variable on the way; FAULT in the environment says where.

argv: options, a program, its arguments; as torchrun is called. Standard library only.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

RANKS = 2
# The rank runs under an interpreter whose name for itself is a wrapper that drops the variable.
UNDER_A_WRAPPER = "import runpy, sys; sys.executable = sys.argv.pop(1); sys.argv.pop(0); "
RUN = "runpy.run_path(sys.argv[0], run_name='__main__')"


def environment(rank: int, fault: str) -> dict[str, str]:
    """Returns what one rank is given."""
    given = {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(RANKS)}
    variables = {**os.environ, **given, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29500"}
    if rank == 1 and fault == "job variable":
        del variables["HF_HOME"]
    if rank == 1 and fault == "another value":
        variables["HF_HOME"] = "/home/somebody"
    if rank == 1 and fault == "launcher variable":
        del variables["MASTER_PORT"]
    if fault == "same rank twice":
        variables["RANK"] = "0"
    return variables


def command(rank: int, fault: str, program: list[str]) -> list[str]:
    """Returns what one rank runs."""
    if rank != 1 or fault != "subprocess":
        return [sys.executable, *program]
    wrapper = Path(sys.argv[0]).with_name("python-without")
    wrapper.write_text(f'#!/bin/sh\nunset HF_HOME\nexec {sys.executable} "$@"\n')
    wrapper.chmod(0o755)
    return [sys.executable, "-c", UNDER_A_WRAPPER + RUN, str(wrapper), *program]


def main() -> int:
    """Starts the ranks, waits for them; returns the first exit code that is not 0."""
    fault = os.environ["FAULT"]
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    ranks = [subprocess.Popen(command(rank, fault, words), env=environment(rank, fault)) for rank in range(RANKS)]
    return next((code for code in [rank.wait() for rank in ranks] if code), 0)


if __name__ == "__main__":
    sys.exit(main())
