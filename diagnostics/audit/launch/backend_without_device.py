"""A backend is chosen that the device, or the PyTorch that is usually installed, does not have.

What it does: flags `backend: nccl` beside `device: cpu` in one configuration, `--backend nccl` beside `--device cpu` or
CUDA_VISIBLE_DEVICES="" in one command, and init_process_group("mpi").

Why it matters: NCCL moves tensors between GPUs only: the first collective ends with "No backend type associated with
device type cpu", or init_process_group itself does. No wheel of PyTorch is built with MPI.

Bad:

    backend: nccl
    device: cpu

Good:

    backend: gloo
    device: cpu

What it cannot see: which machine a job runs on, and how its PyTorch was built.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import yaml

from diagnostics.audit.rule import ExplanationStep, Violation, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.launch_files.command_locations import place
from diagnostics.static.launch_files.embedded_scripts import embedded_scripts
from diagnostics.static.launch_files.launcher_commands import launcher_calls
from diagnostics.static.launch_files.shell_commands import CommandContext
from diagnostics.static.launch_files.yaml_nodes import column_of, documents, entries, line_of, mappings, scalar
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import FileKind, ProjectFile

CODE = "A613"
NAME = "backend-without-device"
SEVERITY = Severity.ERROR
READS = frozenset({FileKind.SHELL, FileKind.YAML, FileKind.DOCKERFILE, FileKind.PYTHON})
WORDS = ("nccl", "mpi", "NCCL")
CHECKLIST = "the backend fits the device"
_INIT = "torch.distributed.init_process_group"
_BACKEND = ("backend", "dist_backend", "ddp_backend", "distributed_backend")
_DEVICE = ("device", "accelerator", "device_type")
_CPU_FLAG = frozenset(["use_cpu", "cpu_only", "no_cuda"])


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the backends of a file that its devices do not have."""
    if file.kind is FileKind.PYTHON:
        yield from _mpi(file, project)
    elif file.kind is FileKind.YAML:
        yield from _configured(file)
    for script in embedded_scripts(file):
        for ran in script.commands:
            yield from _in_command(file, ran)


def _mpi(file: ProjectFile, project: Project) -> Iterator[Violation]:
    if "mpi" not in file.words or not file.words.isdisjoint(("is_mpi_available", "mpi4py", "mpirun", "mpiexec")):
        return
    for call, function in project.calls_in(file):
        given = [*call.args[:1], *(one.value for one in call.keywords if one.arg == "backend")]
        names_mpi = any(isinstance(one, ast.Constant) and one.value == "mpi" for one in given)
        if _is_default(call) or (names_mpi and project.name(call.func, function) == _INIT):
            yield violation(
                file,
                call,
                "the backend is mpi: no wheel of PyTorch is built with MPI, only one built from source has it",
                'backend="nccl" for GPUs, "gloo" for CPUs',
                confidence=Confidence.POSSIBLE if _is_chosen(file, call) else Confidence.LIKELY,
            )


def _is_chosen(file: ProjectFile, call: ast.Call) -> bool:
    """Whether a condition stands around it, which may have asked for MPI."""
    one: ast.AST | None = call
    while one is not None and not isinstance(one, (ast.If, ast.Try, ast.IfExp)):
        one = file.parents.get(one)
    return one is not None and not (isinstance(one, ast.If) and "__name__" in ast.unparse(one.test))


def _is_default(call: ast.Call) -> bool:
    """Whether it is `add_argument("--backend", default="mpi")`."""
    first = call.args[0] if call.args else None
    named = isinstance(first, ast.Constant) and str(first.value).lstrip("-").replace("-", "_") in _BACKEND
    default = next((one.value for one in call.keywords if one.arg == "default"), None)
    return named and isinstance(default, ast.Constant) and default.value == "mpi"


def _configured(file: ProjectFile) -> Iterator[Violation]:
    for document in documents(file):
        backends: list[yaml.Node] = []
        devices: list[tuple[str, yaml.Node]] = []
        for mapping, _, _ in mappings(document):
            for name, node in entries(mapping).items():
                if name in _BACKEND and scalar(node).lower() == "nccl":
                    backends.append(node)
                if (name in _DEVICE and scalar(node)) or (name in _CPU_FLAG and scalar(node).lower() == "true"):
                    devices.append((name, node))
        # One backend and one device: with several it is open which goes with which.
        if len(backends) != 1 or len(devices) != 1:
            continue
        name, device = devices[0]
        if name in _DEVICE and scalar(device).lower() != "cpu":
            continue
        yield Violation(
            file=file,
            line=line_of(backends[0]),
            column=column_of(backends[0]),
            title=f"the backend is nccl and {name} is {scalar(device)} (line {line_of(device)}): NCCL knows GPUs only",
            fix="backend: gloo",
            steps=(ExplanationStep(place=file.place(line_of(device)), text=f"{name}: {scalar(device)}"),),
            confidence=Confidence.LIKELY,
        )


def _in_command(file: ProjectFile, ran: CommandContext) -> Iterator[Violation]:
    layers = launcher_calls(ran.words)
    if not layers:
        return
    options = _options(layers[-1].arguments)
    backend = next((options[name] for name in _BACKEND if name in options), "")
    device = next((options[name] for name in _DEVICE if name in options), "")
    hidden = ran.environment.get("CUDA_VISIBLE_DEVICES") in ("", "-1")
    if backend.lower() != "nccl" or not (device == "cpu" or hidden):
        return
    why = f"the device is {device}" if device == "cpu" else "CUDA_VISIBLE_DEVICES shows no GPU"
    line, column = place(file, ran, layers[0].at)
    yield Violation(
        file=file,
        line=line,
        column=column,
        title=f"the backend is nccl and {why}: NCCL knows GPUs only",
        fix="--backend gloo",
        confidence=Confidence.LIKELY,
    )


def _options(words: tuple[str, ...]) -> dict[str, str]:
    found = {}
    for index, word in enumerate(words):
        name, equals, value = word.partition("=")
        if name.startswith("--"):
            found[name[2:].replace("-", "_")] = value if equals else next(iter(words[index + 1 : index + 2]), "")
    return found
