"""The number of ranks in the launch line is another one than that of the GPUs, of Slurm or of the program.

What it does: compares --nproc-per-node (num_processes, num_gpus) with CUDA_VISIBLE_DEVICES, the Slurm header, options
and YAML files that the program is given, and literals in the program: world_size= of init_process_group, devices= of a
Trainer.

Why it matters: ranks beyond the last GPU end with "invalid device ordinal"; a program that expects eight ranks and gets
four waits, or trains on half of the data.

Bad:

    export CUDA_VISIBLE_DEVICES=0,1
    torchrun --standalone --nproc-per-node 4 train.py

Good:

    export CUDA_VISIBLE_DEVICES=0,1
    torchrun --standalone --nproc-per-node 2 train.py

What it cannot see: numbers that variables hold which the script does not set, and what the program does with an option
that it is given. Fewer ranks than GPUs may be meant.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from diagnostics.audit.rule import ExplanationStep, Violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.launch_files.command_locations import place
from diagnostics.static.launch_files.embedded_scripts import Script, embedded_scripts
from diagnostics.static.launch_files.launched_program import script_file
from diagnostics.static.launch_files.launcher_commands import Launch, launcher_calls
from diagnostics.static.launch_files.process_counts import ProcessCount, configuration, counts_in, literal
from diagnostics.static.launch_files.shell_commands import CommandContext
from diagnostics.static.program.functions import last_name
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import FileKind, ProjectFile

CODE = "A603"
NAME = "nproc-disagrees"
SEVERITY = Severity.ERROR
READS = frozenset({FileKind.SHELL, FileKind.YAML, FileKind.DOCKERFILE})
CHECKLIST = "launch line, Slurm header and configuration agree on the number of ranks"
_ELASTIC = ("torchrun", "launch", "accelerate", "deepspeed")
_PER_NODE = frozenset(["nproc_per_node", "procs_per_node", "gpus_per_node", "n_gpus_per_node", "num_gpus_per_node"])
_WORLD = frozenset(["world_size", "num_processes"])
_GPUS = frozenset(["gpus", "num_gpus", "n_gpus", "n_gpu", "ngpus", "devices"])
_GRES = re.compile(r"gpu(?::[\w.-]+)?:(\d+)")


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the launch lines whose number of ranks another place contradicts."""
    for script in embedded_scripts(file):
        for ran in script.commands:
            for launch in launcher_calls(ran.words):
                ranks = launch.ranks_here
                if launch.kind in _ELASTIC and ranks and "$" not in "".join(launch.launcher):
                    yield from _against_gpus(file, script, ran, launch, ranks)
                    yield from _against_program(file, project, ran, launch, ranks)


def _against_gpus(
    file: ProjectFile, script: Script, ran: CommandContext, launch: Launch, ranks: int
) -> Iterator[Violation]:
    visible = ran.value("CUDA_VISIBLE_DEVICES")
    listed = [one for one in visible.split(",") if one.strip()]
    if listed and all(re.fullmatch(r"\s*(?:\d+|GPU-[\w-]+|MIG-\S+)\s*", one) for one in listed) and len(listed) < ranks:
        yield _hit(file, ran, launch, ranks, f"CUDA_VISIBLE_DEVICES={visible} shows {_gpus(len(listed))}", len(listed))
        return
    for name in ("gpus-per-node", "gres", "gpus"):
        header = script.header(name)
        found = _GRES.search(header.value) if header and name == "gres" else None
        count = found[1] if found else header.value.rpartition(":")[2] if header and name != "gres" else ""
        if header is None or not count.isdigit() or (name == "gpus" and launch.machines != 1):
            continue
        if int(count) and int(count) < ranks:
            step = ExplanationStep(place=file.place(header.line), text=f"--{name}={header.value}: {_gpus(int(count))}")
            yield _hit(file, ran, launch, ranks, f"Slurm is asked for {_gpus(int(count))}", int(count), (step,))
        return


def _gpus(count: int) -> str:
    return f"{count} GPU{'s' if count != 1 else ''}"


def _against_program(
    file: ProjectFile, project: Project, ran: CommandContext, launch: Launch, ranks: int
) -> Iterator[Violation]:
    machines = launch.machines
    for count in (*_options(file, ran, launch), *_from_files(file, project, launch)):
        world = count.name in _WORLD
        expected = ranks * machines if world and machines is not None else ranks
        if (world and machines is None) or count.value in (expected, 0):
            continue
        if count.file is not file and world and _is_taken_from_launcher(count.name, project):
            continue
        where = count.file.place(count.line)
        program = script_file(launch, file, project)
        read = count.file is not file and count.value > 1 and program is not None and count.name in program.words
        gpus = count.name in _GPUS and not read
        yield _hit(
            file,
            ran,
            launch,
            ranks,
            f"{count.name} is {count.value} in {where}"
            if count.file is not file
            else f"it is given {count.name} {count.value}",
            count.value,
            (ExplanationStep(place=where, text=f"{count.name}: {count.value}"),),
            confidence=Confidence.POSSIBLE if gpus else Confidence.LIKELY,
        )
    yield from _in_source(file, project, ran, launch, ranks)


def _is_taken_from_launcher(name: str, project: Project) -> bool:
    """Whether the program sets this itself from what the launcher says: a file's number is only what it begins with."""
    return any(
        "WORLD_SIZE" in text or "get_world_size" in text
        for value, _ in project.attributes.get(name, ())
        for text in [ast.unparse(value)]
    )


def _options(file: ProjectFile, ran: CommandContext, launch: Launch) -> Iterator[ProcessCount]:
    """Yields `--world_size 4` among the program's own arguments."""
    words = launch.arguments
    for index, word in enumerate(words):
        name, equals, value = word.partition("=")
        name = name.lstrip("-").replace("-", "_")
        value = value if equals else words[index + 1] if index + 1 < len(words) else ""
        if word.startswith("--") and name in _PER_NODE | _WORLD | _GPUS and value.isdigit() and len(value) < 6:
            yield ProcessCount(name=name, value=int(value), file=file, line=place(file, ran, launch.at)[0])


def _from_files(file: ProjectFile, project: Project, launch: Launch) -> Iterator[ProcessCount]:
    for found in configuration(launch.arguments, file, project):
        yield from counts_in(found, _PER_NODE | _WORLD | _GPUS)
    if launch.kind == "accelerate" and "--config-file" in launch.options:
        return  # what the command says wins


def _in_source(
    file: ProjectFile, project: Project, ran: CommandContext, launch: Launch, ranks: int
) -> Iterator[Violation]:
    program = script_file(launch, file, project)
    if program is None or launch.machines is None:
        return
    for call, _ in project.calls_in(program):
        for keyword in call.keywords:
            value = literal(keyword.value)
            world = last_name(call.func) == "init_process_group" and keyword.arg == "world_size"
            trainer = last_name(call.func) == "Trainer" and keyword.arg == "devices"
            expected = ranks * launch.machines if world else ranks
            if not (world or trainer) or value is None or value in (expected, -1):
                continue
            where = program.place(keyword.value.lineno)
            step = ExplanationStep(place=where, text=ast.unparse(keyword))
            what = f"{last_name(call.func)}({keyword.arg}={value}) stands in {where}"
            yield _hit(file, ran, launch, ranks, what, value, (step,))


def _hit(
    file: ProjectFile,
    ran: CommandContext,
    launch: Launch,
    ranks: int,
    what: str,
    other: int,
    steps: tuple[ExplanationStep, ...] = (),
    confidence: Confidence = Confidence.LIKELY,
) -> Violation:
    line, column = place(file, ran, launch.at)
    started = ExplanationStep(place=file.place(line), text=f"{launch.kind} starts {ranks} ranks on each machine")
    return Violation(
        file=file,
        line=line,
        column=column,
        title=f"{launch.kind} starts {ranks} ranks, and {what}",
        fix=f"one number in both places: {ranks} or {other}",
        steps=(started, *steps),
        confidence=confidence,
    )
