"""Slurm shows each task one GPU, and the program asks for it by the number of the task.

What it does: flags a batch script or srun that asks for --gpus-per-task=1 (or binds one GPU to each task), with several
tasks on a machine, where the program that srun starts takes SLURM_LOCALID for the number of its GPU.

Why it matters: with --gpus-per-task Slurm binds each task to GPUs of its own, and the only one that a task sees is
number 0. The first task of each machine works; the others ask for number 1, 2, ... and end with "invalid device
ordinal", while the first waits for them.

Bad:

    #SBATCH --ntasks-per-node=4
    #SBATCH --gpus-per-task=1
    srun python train.py              # torch.cuda.set_device(int(os.environ["SLURM_LOCALID"]))

Good:

    #SBATCH --ntasks-per-node=4
    #SBATCH --gpus-per-node=4
    srun python train.py

or --gpu-bind=none; or device 0 in the program.

Source: https://slurm.schedmd.com/srun.html: --gpus-per-task "implicitly sets --gpu-bind=per_task:<gpus_per_task>, but
that can be overridden with an explicit --gpu-bind specification".

What it cannot see: options that are given to sbatch itself; Slurm before 20.11, which did not bind.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from diagnostics.audit.rule import ExplanationStep, Violation, step
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.dataflow.local_ranks import local_rank_origin
from diagnostics.static.launch_files.command_locations import place
from diagnostics.static.launch_files.embedded_scripts import Script, embedded_scripts
from diagnostics.static.launch_files.launched_program import script_file
from diagnostics.static.launch_files.launcher_commands import Launch, launcher_calls
from diagnostics.static.launch_files.shell_commands import CommandContext
from diagnostics.static.program.functions import Function
from diagnostics.static.program.import_closure import ImportClosures
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import FileKind, ProjectFile

CODE = "A628"
NAME = "one-gpu-by-its-number"
SEVERITY = Severity.ERROR
READS = frozenset({FileKind.SHELL})
CHECKLIST = "tasks that see one GPU take number 0"
_USES = ("torch.cuda.set_device", "torch.device", "torch.cuda.device")
_HIDES = "CUDA_VISIBLE_DEVICES"
_ONE = re.compile(r"(?:[\w.-]{1,40}:)?1")
_BINDS_ONE = re.compile(r"(?:verbose,|v,)?(?:per_task|single):1")


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the requests for one GPU a task, where the program numbers the GPUs itself."""
    if _HIDES in (file.text or ""):
        return  # who sees which GPU is decided there
    told: set[tuple[int, int]] = set()
    for script in embedded_scripts(file):
        for ran in script.commands:
            layers = launcher_calls(ran.words)
            if [one.kind for one in layers] != ["srun", "python"]:
                continue
            asked = _one_gpu(script, ran, layers[0])
            program = script_file(layers[1], file, project) if asked is not None else None
            if asked is None or program is None or not _several_tasks(script, layers[0]) or asked in told:
                continue
            numbered = _numbered(program, project)
            if numbered is not None:
                told.add(asked)
                call, where, source, of = numbered
                yield Violation(
                    file=file,
                    line=asked[0],
                    column=asked[1],
                    title="Slurm shows each task one GPU here, number 0, and the program takes SLURM_LOCALID for the "
                    "number: every task of a machine but the first ends with 'invalid device ordinal'",
                    fix="--gpus-per-node in place of it, or --gpu-bind=none; or device 0 in the program",
                    steps=(
                        step(project.file_with(of), source, "the number of the task on its machine"),
                        step(project.file_with(where), call, "taken for the number of a GPU"),
                        ExplanationStep(place=file.place(ran.line), text="several tasks are started here"),
                    ),
                    confidence=Confidence.LIKELY,
                )


def _one_gpu(script: Script, ran: CommandContext, srun: Launch) -> tuple[int, int] | None:
    """Returns the line and column that have Slurm bind one GPU to each task, None where it does not."""
    head_bind, head_count = script.header("gpu-bind"), script.header("gpus-per-task")
    bind = srun.option("--gpu-bind") or (head_bind.value if head_bind is not None else "")
    if bind and _BINDS_ONE.fullmatch(bind) is None:
        return None
    for name, head in (("--gpu-bind", head_bind), ("--gpus-per-task", head_count)):
        if name in srun.options:
            given = srun.option(name)
            if _BINDS_ONE.fullmatch(given) or (name != "--gpu-bind" and _ONE.fullmatch(given)):
                at = next(at for at, word in enumerate(ran.words) if word.partition("=")[0].replace("_", "-") == name)
                return place(script.file, ran, at)
        elif head is not None and (bind or _ONE.fullmatch(head.value)):
            return head.line, 1
    return None


def _several_tasks(script: Script, srun: Launch) -> bool:
    """Whether more than one task surely runs on a machine."""
    here = _number(script, srun, "ntasks-per-node", "tasks-per-node")
    if here is not None:
        return here > 1
    tasks, nodes = _number(script, srun, "ntasks", short="-n"), _number(script, srun, "nodes", short="-N")
    return tasks is not None and tasks > (nodes or 1)


def _number(script: Script, srun: Launch, *names: str, short: str = "") -> int | None:
    head = script.header(*names)
    given = srun.option(*(f"--{one}" for one in names), *([short] if short else []))
    text = given or (head.value if head is not None else "")
    return int(text) if text.isdigit() and len(text) < 7 else None


def _numbered(program: ProjectFile, project: Project) -> tuple[ast.Call, Function, ast.expr, Function] | None:
    """Returns (call, function, SLURM_LOCALID, its function) where a program numbers its GPU by the task."""
    around = [program.shown, *project.fact(ImportClosures).closure(program.shown)]
    if any(_HIDES in (project.by_path[one].text or "") for one in around):
        return None
    for call, function in project.fact(ImportClosures).calls(program.shown, *_USES):
        number = call.args[-1] if call.args else None
        if isinstance(number, ast.JoinedStr) and isinstance(number.values[-1], ast.FormattedValue):
            number = number.values[-1].value
        found = local_rank_origin(number, function, project) if number is not None else None
        if found is not None and "SLURM_LOCALID" in ast.unparse(found[0]):
            return call, function, *found
    return None
