"""The ranks that are started are not as many as the world that they wait for.

What it does: flags WORLD_SIZE=3 where the script's loop starts two ranks, torchrun --nnodes 2 whose meeting point is
this machine alone and that is started once, and a configuration whose world_size is not nodes times processes per node.

Why it matters: init_process_group waits for the missing rank until its timeout, half an hour by default, and then says
only that something timed out.

Bad:

    export WORLD_SIZE=3 MASTER_ADDR=127.0.0.1
    for RANK in 0 1; do RANK=$RANK python train.py & done

Good:

    export WORLD_SIZE=2 MASTER_ADDR=127.0.0.1
    for RANK in 0 1; do RANK=$RANK python train.py & done

What it cannot see: ranks that other scripts or machines start. Where the address is not this machine's own, a
difference is only possible.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from diagnostics.audit.rule import ExplanationStep, Violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.launch_files.command_locations import place
from diagnostics.static.launch_files.embedded_scripts import Script, embedded_scripts
from diagnostics.static.launch_files.launcher_commands import Launch, launcher_calls
from diagnostics.static.launch_files.process_counts import loop_name, loop_values
from diagnostics.static.launch_files.shell_commands import CommandContext
from diagnostics.static.launch_files.shell_parser import Compound
from diagnostics.static.launch_files.yaml_nodes import documents, entries, line_of, mappings, number
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import FileKind, ProjectFile

CODE = "A610"
NAME = "world-size-disagrees"
SEVERITY = Severity.ERROR
READS = frozenset({FileKind.SHELL, FileKind.YAML, FileKind.DOCKERFILE})
WORDS = ("WORLD_SIZE", "world_size", "nnodes")
CHECKLIST = "as many ranks are started as the world has"
_LOOPBACK = re.compile(r"^(?:localhost|127\.\d+\.\d+\.\d+|::1|\[::1\])$")
_PER_NODE = ("nproc_per_node", "procs_per_node", "processes_per_node", "ranks_per_node", "gpus_per_node")
_NODES = ("nodes", "nnodes", "num_nodes", "num_machines")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ranks:
    """What one command starts: ranks by number."""

    ran: CommandContext
    ranks: frozenset[str]
    loop: Compound | None


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the worlds of a file that have more, or fewer, ranks than are started."""
    for script in embedded_scripts(file):
        yield from _by_hand(file, script)
        yield from _waits_for_nodes(file, script)
    if file.kind is FileKind.YAML:
        yield from _configured(file)


def _by_hand(file: ProjectFile, script: Script) -> Iterator[Violation]:
    started = [found for ran in script.commands if (found := _ranks(ran)) is not None]
    worlds = {found.ran.value("WORLD_SIZE") for found in started}
    if not started or len(worlds) != 1 or not (world := worlds.pop()).isdigit() or not 0 < int(world) < 10_000:
        return
    ranks = frozenset[str]().union(*(found.ranks for found in started))
    first = started[0]
    alone = _LOOPBACK.match(first.ran.value("MASTER_ADDR"))
    single = len(started) == 1 and first.loop is None  # one rank of several: the others are elsewhere
    if len(ranks) == int(world) or single:
        return
    line = first.loop.first.line if first.loop is not None else place(file, first.ran)[0]
    column = first.loop.first.column if first.loop is not None and file.kind is FileKind.SHELL else 1
    set_at = next((number for number, row in enumerate(file.lines, 1) if re.search(r"\bWORLD_SIZE=", row)), line)
    yield Violation(
        file=file,
        line=line,
        column=column,
        title=f"WORLD_SIZE is {world}, and {len(ranks)} ranks are started ({_listed(ranks)}): "
        + ("they wait for the others until the timeout" if len(ranks) < int(world) else "the last ones are refused"),
        fix=f"WORLD_SIZE={len(ranks)}, or let torchrun set it",
        steps=(
            ExplanationStep(place=file.place(set_at), text=f"the world has {world} ranks"),
            ExplanationStep(place=file.place(line), text=f"{len(ranks)} are started"),
        ),
        confidence=Confidence.CONFIRMED if alone else Confidence.POSSIBLE,
    )


def _ranks(ran: CommandContext) -> _Ranks | None:
    """Returns the ranks that a Python program is started as, by RANK in its environment."""
    layers = launcher_calls(ran.words)
    if len(layers) != 1 or layers[0].kind != "python" or "WORLD_SIZE" not in ran.environment:
        return None
    rank = ran.environment.get("RANK") if "RANK" in ran.environment else None
    if isinstance(rank, str) and rank.isdigit():
        return _Ranks(ran=ran, ranks=frozenset([rank]), loop=None)
    loops = [one for one in ran.around if one.kind == "for"]
    if len(loops) != 1 or any(one.kind in ("if", "case", "function", "while") for one in ran.around):
        return None
    name = loop_name(loops[0])
    meant = isinstance(rank, str) and rank in (f"${name}", f"${{{name}}}")
    exported = name == "RANK" and "RANK" in ran.environment and rank is None
    values = loop_values(loops[0], ran) if meant or exported else None
    if not values or not all(value.isdigit() for value in values):
        return None
    return _Ranks(ran=ran, ranks=frozenset(values), loop=loops[0])


def _listed(ranks: frozenset[str]) -> str:
    shown = sorted(ranks, key=int)
    return ", ".join(shown) if len(shown) < 6 else f"{shown[0]} to {shown[-1]}"


def _waits_for_nodes(file: ProjectFile, script: Script) -> Iterator[Violation]:
    """Yields torchrun for several machines that meet where only this one can come, and that is started once."""
    found = [(ran, one) for ran in script.commands for one in launcher_calls(ran.words) if _meets_here(one)]
    looped = any(command.kind in ("for", "while", "until", "function") for ran, _ in found for command in ran.around)
    if len(found) != 1 or looped or len(launcher_calls(found[0][0].words)) > 2 or script.slurm:
        return
    ran, launch = found[0]
    line, column = place(file, ran, launch.at)
    host = launch.option("--rdzv-endpoint", "--master-addr")
    yield Violation(
        file=file,
        line=line,
        column=column,
        title=f"torchrun waits for {launch.machines} machines at {host}, which is this machine for each of them, and "
        "one is started",
        fix="--nnodes 1, or --standalone; for several machines the address of the first one",
        confidence=Confidence.CONFIRMED,
    )


def _meets_here(launch: Launch) -> bool:
    host = launch.option("--rdzv-endpoint", "--master-addr")
    named = host.rpartition(":")[0] or host if "--rdzv-endpoint" in launch.options else host
    several = launch.machines is not None and launch.machines > 1
    # With a rank for each machine, every machine has a command of its own, and the first may call itself localhost.
    ranked = "--node-rank" in launch.options
    return launch.kind in ("torchrun", "launch") and several and not ranked and bool(_LOOPBACK.match(named))


def _configured(file: ProjectFile) -> Iterator[Violation]:
    """Yields world_size that is not nodes times processes per node, in one mapping."""
    for document in documents(file):
        for mapping, _, _ in mappings(document):
            here = entries(mapping)
            world = number(here.get("world_size"))
            each = next((here[name] for name in _PER_NODE if name in here), None)
            nodes = next((here[name] for name in _NODES if name in here), None)
            count, machines = number(each), number(nodes) if nodes is not None else 1
            if world is None or each is None or count is None or machines is None or world == count * machines:
                continue
            yield Violation(
                file=file,
                line=line_of(here["world_size"]),
                title=f"world_size is {world}, and {machines} x {count} processes are configured: "
                + ("some never come" if world > count * machines else "some are too many"),
                fix=f"world_size: {count * machines}",
                steps=(ExplanationStep(place=file.place(line_of(each)), text=f"{count} processes per node"),),
                confidence=Confidence.LIKELY if nodes is not None else Confidence.POSSIBLE,
            )
