"""The batch script of a training on Slurm: a doctor and a torchrun a node, put back when its time runs out. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

WARNING_S = 120  # before the time limit, to save in
PORTS = 20_000  # from this number on: the port follows the job's number, so that two on a node differ


@dataclass(frozen=True, slots=True, kw_only=True)
class SlurmRequest:
    """What the user asked for."""

    config: Path
    name: str
    output: Path  # the run's folder
    nodes: int
    ranks_per_node: int
    time: str  # as sbatch reads it
    gpus_per_node: int = 0
    partition: str = ""
    overrides: tuple[str, ...] = ()
    bin: Path  # where ups, ups-doctor and torchrun are, on all nodes


def batch_script(request: SlurmRequest) -> str:
    """Returns the script. Every word of the user's is quoted; nothing secret is in it."""
    shared = request.output.with_name(f"{request.output.name}-doctor")
    options = [
        f"--job-name={request.name}", f"--nodes={request.nodes}", "--ntasks-per-node=1", f"--time={request.time}",
        f"--signal=B:USR1@{WARNING_S}", "--requeue", "--open-mode=append", f'--output="{shared}-%j.out"',
        *([f"--gpus-per-node={request.gpus_per_node}"] if request.gpus_per_node else []),
        *([f"--partition={request.partition}"] if request.partition else []),
    ]  # fmt: skip
    given = [word for one in request.overrides for word in ("--set", one)]
    train = ["-m", "ups", "train", str(request.config), *given, "--no-preflight", "--no-doctor"]
    return f"""#!/bin/bash
{_lines(options)}
set -uo pipefail
PATH={shlex.quote(str(request.bin))}:$PATH
first=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
address=$(scontrol show node "$first" | sed -n 's/.*NodeAddr=\\([^ ]*\\).*/\\1/p')
port=$(( {PORTS} + SLURM_JOB_ID % {PORTS} ))
resume=()
began={shlex.quote(str(request.output / "config.yaml"))}
[ "${{SLURM_RESTART_COUNT:-0}}" = 0 ] || [ ! -e "$began" ] || resume=(--resume)
export address port

# Slurm warns this shell {WARNING_S} s before the time limit: all ranks save and stop, and the job is put back.
asked=0
trap 'asked=1; scancel --signal=TERM "$SLURM_JOB_ID"' USR1

srun --kill-on-bad-exit=0 ups-doctor run --share {shlex.quote(str(shared))} -- bash -c \\
  'exec torchrun --nnodes "$SLURM_NNODES" --node-rank "$SLURM_NODEID" --nproc-per-node {request.ranks_per_node} \\
     --master-addr "$address" --master-port "$port" "$@"' bash \\
  {shlex.join(train)} ${{resume[@]+"${{resume[@]}}"}} &
step=$!
wait "$step"; code=$?
while kill -0 "$step" 2>/dev/null; do wait "$step"; code=$?; done  # a signal ends the first wait, not the step
if [ "$asked" = 1 ]; then
  scontrol requeue "$SLURM_JOB_ID"
fi
exit "$code"
"""


def _lines(options: Sequence[str]) -> str:
    return "\n".join(f"#SBATCH {option}" for option in options)
