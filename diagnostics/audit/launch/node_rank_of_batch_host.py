"""All machines of a job are given one number.

What it does: flags `srun torchrun --node_rank $SLURM_NODEID` (and $SLURM_PROCID, and accelerate's --machine_rank): the
shell of the batch script puts the number in, once, on the first machine. Also a number that is written out.

Why it matters: each machine says that it is number 0, and the ranks on it take the same numbers as those of the first:
the rendezvous waits for machines that never come, or fails with ranks that are there twice.

Bad:

    srun torchrun --nnodes 2 --node_rank $SLURM_NODEID --master_addr $head train.py

Good:

    srun bash -c 'torchrun --nnodes 2 --node_rank $SLURM_NODEID --master_addr $HEAD train.py'
    srun torchrun --nnodes 2 --rdzv_backend c10d --rdzv_endpoint $head:29500 train.py     # numbers them itself

What it cannot see: a script that srun runs a second time by itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from diagnostics.audit.rule import Violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.launch_files.command_locations import place
from diagnostics.static.launch_files.embedded_scripts import Script, embedded_scripts
from diagnostics.static.launch_files.launcher_commands import Launch, launcher_calls
from diagnostics.static.launch_files.node_counts import machines_of
from diagnostics.static.launch_files.shell_commands import CommandContext
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import FileKind, ProjectFile

CODE = "A615"
NAME = "node-rank-of-batch-host"
SEVERITY = Severity.ERROR
READS = frozenset({FileKind.SHELL, FileKind.YAML})
CHECKLIST = "each machine of a job has its own number"
_OF_A_TASK = re.compile(r"\$\{?SLURM_(?:NODEID|PROCID|LOCALID)\b")
_NAMES = re.compile(r"\$\{?(\w+)")
_STARTS = ("torchrun", "launch", "accelerate")
_NUMBERS = ("--node-rank", "--machine-rank")


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the numbers of machines that are the same on all of them."""
    for script in embedded_scripts(file):
        for ran in script.commands:
            layers = launcher_calls(ran.words)
            if len(layers) > 1 and layers[0].kind == "srun" and layers[1].kind in _STARTS:
                yield from _numbered(file, script, ran, layers[0], layers[1])
            elif ran.outer is not None and layers and layers[0].kind in _STARTS and _is_filled_in_outside(ran, script):
                around = launcher_calls(ran.outer.words)
                if around and around[0].kind == "srun":
                    yield from _numbered(file, script, ran, around[0], layers[0])


def _is_filled_in_outside(ran: CommandContext, script: Script) -> bool:
    """Whether the batch script's shell fills in what the text for `bash -c` asks of a task: no backslash, no ''."""
    outer = ran.outer
    if outer is None or outer.outer is not None or outer.substituted or ran.substituted:
        return False
    written = [token.text for token in outer.command.words]
    named = {name for text in written for name in _NAMES.findall(text)}
    for one in script.commands[: script.commands.index(outer)]:
        tokens = (*one.command.assignments, *one.command.words)
        written += [token.text for token in tokens if token.text.partition("=")[0] in named]
    return any(_asks_for_number(text) and _fills_in(text) for text in written)


def _asks_for_number(text: str) -> bool:
    return any(name in text.replace("_", "-") for name in _NUMBERS)


def _fills_in(written: str) -> bool:
    """Whether the shell that reads a word fills in a variable of a task."""
    at, quote = 0, ""
    while at < len(written):
        char = written[at]
        if char == "\\" and quote != "'":
            at += 1
        elif char in "'\"" and quote in ("", char):
            quote = "" if quote else char
        elif char == "$" and quote != "'" and _OF_A_TASK.match(written, at):
            return True
        at += 1
    return False


def _numbered(
    file: ProjectFile, script: Script, ran: CommandContext, srun: Launch, launch: Launch
) -> Iterator[Violation]:
    number = launch.option(*_NUMBERS)
    counts = [one for one in (machines_of(script, launch), srun.machines) if one is not None]
    if not number or max(counts, default=1) < 2 or launch.option("--rdzv-backend", "--rdzv-conf") not in ("", "static"):
        return
    filled_in = _OF_A_TASK.search(number)
    if ran.outer is not None and not filled_in:
        return  # worked out by the task's own shell
    if not filled_in and not number.isdigit():
        return
    line, column = place(file, ran, launch.at)
    told = f"the batch script's shell fills {number} in, on the first machine" if filled_in else f"it is {number}"
    yield Violation(
        file=file,
        line=line,
        column=column,
        title=f"srun starts {launch.kind} on each of {max(counts)} machines with one number for all: {told}",
        fix="let the task's own shell fill it in: srun bash -c 'torchrun --node_rank $SLURM_NODEID ...', or use "
        "--rdzv_backend c10d",
        confidence=Confidence.CONFIRMED,
    )
