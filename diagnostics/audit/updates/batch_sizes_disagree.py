"""The batch sizes of a DeepSpeed configuration do not belong together, or not to the number of GPUs.

What it does: flags a configuration of DeepSpeed (a JSON file, a dict) that names `train_batch_size`,
`train_micro_batch_size_per_gpu` and `gradient_accumulation_steps` where no number of GPUs, or none of those that launch
lines start it on, makes the first the product of the others and of that number.

Why it matters: DeepSpeed stops at once: "train_batch_size is not equal to micro_batch_per_gpu * gradient_acc_step *
world_size". On a cluster, that is after the wait for the machines.

Bad:

    {"train_batch_size": 64, "train_micro_batch_size_per_gpu": 4, "gradient_accumulation_steps": 4}
    deepspeed --num_gpus 8 train.py --deepspeed_config ds_config.json

Good:

    {"train_micro_batch_size_per_gpu": 4, "gradient_accumulation_steps": 4}

What it cannot see: numbers of GPUs that a scheduler gives, and configurations that are changed before they are used.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import PurePath

import yaml

from diagnostics.audit.rule import ExplanationStep, Violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.launch_files.command_locations import place
from diagnostics.static.launch_files.embedded_scripts import Script, embedded_scripts
from diagnostics.static.launch_files.launched_program import script_file
from diagnostics.static.launch_files.launcher_commands import Launch, launcher_calls
from diagnostics.static.launch_files.yaml_nodes import column_of, documents, entries, line_of, mappings, number, scalar
from diagnostics.static.program.import_closure import ImportClosures
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import FileKind, ProjectFile

CODE = "A362"
NAME = "batch-sizes-disagree"
SEVERITY = Severity.ERROR
READS = frozenset({FileKind.JSON, FileKind.PYTHON})
WORDS = ("train_batch_size",)
SUBJECT = ("train_micro_batch_size_per_gpu",)
CHECKLIST = "batch sizes of DeepSpeed fit the number of GPUs"
_SIZES = ("train_batch_size", "train_micro_batch_size_per_gpu", "gradient_accumulation_steps")
_STARTS = frozenset(["torchrun", "launch", "deepspeed", "accelerate"])
_PARALLEL = frozenset(["mpu", "PipelineModule", "tensor_parallel", "sequence_parallel_size", "autotp_size"])
_ELSEWHERE = frozenset(["--hostfile", "-H", "--include", "-i", "--exclude", "-e", "--config-file"])


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the total batch sizes that are not what they are made of."""
    if file.is_test:
        return
    for total, micro, steps, line, column in _of_python(file) if file.kind is FileKind.PYTHON else _of_json(file):
        users = _users(file, project)
        if users is None:
            continue
        worlds = [world for world, _, _ in users]
        title = ""
        if total % (micro * steps):
            title = f"{total} is no multiple of {micro} * {steps}"
        elif worlds and None not in worlds and all(total != micro * steps * (one or 0) for one in worlds):
            title = f"{total} is {micro} * {steps} * {total // (micro * steps)}, and it is started on {worlds[0]} GPUs"
        if title:
            yield Violation(
                file=file,
                line=line,
                column=column,
                title=f"{title}: DeepSpeed stops where train_batch_size is not the micro batch size times the steps of "
                "accumulation times the number of GPUs",
                fix="leave train_batch_size out: it follows from the two others and the number of GPUs",
                steps=tuple(
                    ExplanationStep(place=where.file.place(at), text=f"{world} GPUs here") for world, where, at in users
                )[:3],
                confidence=Confidence.LIKELY,
            )


def _of_json(file: ProjectFile) -> Iterator[tuple[int, int, int, int, int]]:
    for document in documents(file):
        for mapping, _, _ in mappings(document):
            here = entries(mapping)
            sizes = [number(here.get(one)) for one in _SIZES]
            if all(sizes) and not here.keys() & _PARALLEL and _is_plain(mapping):
                key = next(one for one, _ in mapping.value if scalar(one) == _SIZES[0])
                yield sizes[0] or 0, sizes[1] or 0, sizes[2] or 0, line_of(key), column_of(key)


def _is_plain(mapping: yaml.MappingNode) -> bool:
    """Whether a configuration is no elastic one, which finds its batch size by itself."""
    return scalar(entries(entries(mapping).get("elasticity")).get("enabled")) != "true"


def _of_python(file: ProjectFile) -> Iterator[tuple[int, int, int, int, int]]:
    for node in ast.walk(file.tree) if file.tree is not None and _SIZES[1] in file.words else ():
        if isinstance(node, ast.Dict):
            given = {one.value: (one, value.value) for one, value in zip(node.keys, node.values, strict=True)
                     if isinstance(one, ast.Constant) and isinstance(value, ast.Constant)}  # fmt: skip
            sizes = [given[one][1] for one in _SIZES if one in given]
            numbers = [one for one in sizes if isinstance(one, int) and one > 0]
            if len(numbers) == len(_SIZES):
                key = given[_SIZES[0]][0]
                yield numbers[0], numbers[1], numbers[2], key.lineno, key.col_offset + 1


def _users(file: ProjectFile, project: Project) -> list[tuple[int | None, Script, int]] | None:
    """Returns (GPUs, script, line) of the launch lines that use a configuration; None where a program changes it."""
    closures, name = project.fact(ImportClosures), PurePath(file.shown).name
    if file.kind is FileKind.JSON:
        readers = [one for one in project.python if name in one.text and not one.is_test]
        if any(_SIZES[0] in one.words for one in project.python if not one.is_test):
            return None
    else:
        readers = [file]
        if file.text.count(_SIZES[0]) > 1:
            return None
    found: list[tuple[int | None, Script, int]] = []
    for one in project.audited:
        for script in embedded_scripts(one):
            for ran in script.commands:
                layers = launcher_calls(ran.words)
                program = script_file(layers[-1], one, project) if layers else None
                inside = closures.closure(program.shown) if program is not None else frozenset[str]()
                named = file.kind is FileKind.JSON and any(word.endswith(name) for word in ran.words)
                if named or any(each.shown in inside for each in readers):
                    parallel = any(project.by_path[each].words & _PARALLEL for each in inside)
                    world = None if parallel or program is None else _world(layers, script)
                    found.append((world, script, place(one, ran)[0]))
    return found


def _world(layers: tuple[Launch, ...], script: Script) -> int | None:
    """Returns how many GPUs a command starts, None where the command alone does not say."""
    starts = [one for one in layers if one.kind != "python"]
    if len(starts) != 1 or starts[0].kind not in _STARTS or starts[0].options.keys() & _ELSEWHERE:
        return None
    if script.slurm or any("replicas" in entries(one) or "parallelism" in entries(one) for one in script.around):
        return None
    here, machines = starts[0].ranks_here, starts[0].machines
    return here * machines if here and machines else None
