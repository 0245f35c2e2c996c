"""A container trains with the 64 MiB of shared memory that it is given by default.

What it does: flags `docker run` and podman without --shm-size or --ipc, compose services without shm_size or ipc, and
Kubernetes containers without a memory volume at /dev/shm, where the command starts several ranks or data workers.

Why it matters: data workers hand their batches over through /dev/shm, and NCCL lets the ranks of a machine talk through
it. When 64 MiB are full, a worker dies of SIGBUS: "DataLoader worker is killed by signal: Bus error".

Bad:

    docker run --gpus all trainer torchrun --standalone --nproc-per-node 8 train.py

Good:

    docker run --gpus all --ipc=host trainer torchrun --standalone --nproc-per-node 8 train.py

What it cannot see: what the image starts by itself, the daemon's default-shm-size, and whether the data is small.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import yaml

from diagnostics.audit.rule import ExplanationStep, Violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.launch_files.command_locations import place
from diagnostics.static.launch_files.embedded_scripts import Script, embedded_scripts
from diagnostics.static.launch_files.launched_program import Training, training
from diagnostics.static.launch_files.launcher_commands import base
from diagnostics.static.launch_files.shell_commands import CommandContext
from diagnostics.static.launch_files.yaml_nodes import entries, items, scalar
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import FileKind, ProjectFile

CODE = "A605"
NAME = "container-without-shm"
SEVERITY = Severity.WARNING
READS = frozenset({FileKind.SHELL, FileKind.YAML})
CHECKLIST = "containers get shared memory"
_ENGINES = ("docker", "podman", "nvidia-docker", "nerdctl")
_NO_WORKERS = re.compile(r"(?<![\w-])-[\w-]{0,40}workers[= ]0(?!\S)")
_SHM = "/dev/shm"  # noqa: S108 - a name in a file, nothing is written there


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the containers of a file that train without shared memory."""
    for script in embedded_scripts(file):
        for ran in script.commands:
            found = training(ran, file, project)
            confidence = _sureness(found)
            if found is None or confidence is None:
                continue
            engine = _engine(ran)
            if engine is not None and not _has_shm(engine.words):
                line, column = place(file, engine)
                yield _hit(file, line, column, f"{_name(engine)} run", found, confidence, "--ipc=host")
            elif engine is None and script.home == "container" and (fix := _missing_in_yaml(script)):
                line, column = place(file, ran)
                yield _hit(file, line, column, "the container", found, confidence, fix)


def _engine(ran: CommandContext) -> CommandContext | None:
    """Returns the `docker run` that runs a command."""
    one: CommandContext | None = ran
    while one is not None:
        words = one.words[1:] if one.words[:1] in (("sudo",), ("exec",)) else one.words
        if words and base(words[0]) in _ENGINES and "run" in words[1:4] and "compose" not in words[1:2]:
            return one
        one = one.outer
    return None


def _name(engine: CommandContext) -> str:
    return next(base(word) for word in engine.words if base(word) in _ENGINES)


def _has_shm(words: tuple[str, ...]) -> bool:
    """Whether it is given, or may be: an option from a variable that the script does not set."""
    known = any(word.startswith(("--shm-size", "--ipc")) or _SHM in word for word in words)
    image = next((at for at, word in enumerate(words) if at > 1 and not word.startswith("-")), len(words))
    return known or any(word.startswith(("$", '"$')) for word in words[: image + 1])


def _missing_in_yaml(script: Script) -> str:
    """Returns what to write into a compose service or a pod, "" where it is there or may be merged in."""
    here = entries(script.node)
    if "<<" in here or "extends" in here:
        return ""
    mounts = [*items(here.get("volumeMounts")), *items(here.get("volumes")), *items(here.get("tmpfs"))]
    if any(_SHM in _mounted(one) for one in mounts):
        return ""
    pods = [entries(one) for one in script.around]
    if "shm_size" in here or "ipc" in here or any(scalar(pod.get("hostIPC")) == "true" for pod in pods):
        return ""
    if any("containers" in pod for pod in pods):
        return "a volume emptyDir: {medium: Memory}, mounted at /dev/shm"
    return "shm_size: 8gb, or ipc: host" if any("services" in pod for pod in pods) else ""


def _mounted(node: yaml.Node) -> str:
    here = entries(node)
    return f"{scalar(node)} {scalar(here.get('mountPath'))} {scalar(here.get('target'))}"


def _sureness(found: Training | None) -> Confidence | None:
    if found is None:
        return None
    launcher = found.launcher
    several = launcher is not None and (launcher.ranks_here or 2) > 1
    words = " ".join(found.layers[-1].program) if found.layers else ""
    workers = "workers" in words or (found.program is not None and "num_workers" in found.program.words)
    if _NO_WORKERS.search(words):
        workers = False  # its own data loaders hand nothing over
    return Confidence.LIKELY if several or workers else Confidence.POSSIBLE


def _hit(
    file: ProjectFile, line: int, column: int, who: str, found: Training, confidence: Confidence, fix: str
) -> Violation:
    return Violation(
        file=file,
        line=line,
        column=column,
        title=f"{who} gives '{found.shown}' 64 MiB of /dev/shm, the default: data workers and NCCL share memory there",
        fix=fix,
        steps=(
            ExplanationStep(
                place=file.place(line), text="neither the size of /dev/shm nor the IPC of the host is given"
            ),
        ),
        confidence=confidence,
    )
