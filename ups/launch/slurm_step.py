"""Ranks that `srun ups train CONFIG` started, without torchrun: Slurm's variables say what RANK and the others would.

Slurm sets SLURM_STEP_NUM_TASKS in the steps of srun only: in a batch script, which is a task too, it is not there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from ups.errors import ConfigError

FIRST_PORT, PORTS = 20_000, 20_000  # below the ports that Linux gives away, above those of services
PLACE = ("SLURM_PROCID", "SLURM_LOCALID", "SLURM_STEP_NUM_TASKS")


def variables(environ: Mapping[str, str], port: int | None) -> dict[str, str]:
    """Returns what a launcher would have set for this task of a step; nothing for one task, or where it is set.

    `port` is the one that the configuration names. Raises ConfigError where Slurm's variables do not say enough.
    """
    if "RANK" in environ or environ.get("SLURM_STEP_NUM_TASKS", "1") in ("", "1"):
        return {}
    nodes = environ.get("SLURM_STEP_NODELIST", "")
    missing = [name for name in (*PLACE, "SLURM_STEP_NODELIST") if not environ.get(name)]
    if missing:
        raise ConfigError(
            f"srun started this process as one of several tasks, and {', '.join(missing)} is not set",
            hint="srun torchrun --nnodes ... -m ups train, or one task for `ups train` to start its own ranks",
        )
    on_one = environ.get("SLURM_STEP_NUM_NODES") == "1"
    found = {
        "RANK": environ["SLURM_PROCID"],
        "LOCAL_RANK": environ["SLURM_LOCALID"],
        "WORLD_SIZE": environ["SLURM_STEP_NUM_TASKS"],
        "MASTER_ADDR": "127.0.0.1" if on_one else first_node(nodes),
        "MASTER_PORT": str(port or _port(environ)),
    }
    return found | ({"LOCAL_WORLD_SIZE": here} if (here := _tasks_here(environ)) else {})


def first_node(nodes: str) -> str:
    """Returns the first of a list as Slurm shortens it: "gpu[03-07,9],login1" begins with gpu03."""
    before, bracket, rest = nodes.partition("[")
    if not bracket or "," in before:
        first = before.partition(",")[0]
    else:
        numbers, _, after = rest.partition("]")
        first = before + re.split("[,-]", numbers, maxsplit=1)[0] + re.split(r"[,\[]", after, maxsplit=1)[0]
    if not first:
        raise ConfigError(f"SLURM_STEP_NODELIST is {nodes!r}, and names no node")
    return first


def _port(environ: Mapping[str, str]) -> int:
    """Returns a port that all tasks of a step come to, and two steps of one machine hardly ever."""
    job, step = (
        int(text) if text.isdigit() else 0 for text in map(environ.get, ("SLURM_JOB_ID", "SLURM_STEP_ID"), "00")
    )
    return FIRST_PORT + (101 * job + step) % PORTS


def _tasks_here(environ: Mapping[str, str]) -> str:
    """Returns how many of the step's tasks run on this node, "" where that is not told: "2(x3),1" of four nodes."""
    node, counts = environ.get("SLURM_NODEID", ""), environ.get("SLURM_STEP_TASKS_PER_NODE", "")
    tasks: list[str] = []
    for count, _, times in re.findall(r"(\d+)(\(x(\d+)\))?", counts):
        tasks += [count] * min(int(times or 1), 1 << 16)
    return tasks[int(node)] if node.isdigit() and int(node) < len(tasks) else ""
