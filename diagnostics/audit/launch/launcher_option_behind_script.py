"""Options of the launcher stand behind the script, which is then given them instead of the launcher.

What it does: flags launch lines of torchrun, torch.distributed.launch, accelerate and deepspeed in which the number of
ranks or machines is given behind the script and not before it, where no file of the script's program knows the option.

Why it matters: a launcher reads its options up to the script; all behind it is the script's. It falls back to one
process on one machine. A strict parser ends with "unrecognized arguments"; one that keeps what it does not know
(`parse_known_args`, overrides of a configuration) goes on, and each machine trains alone over the whole data.

Bad:

    torchrun train.py --nproc_per_node 8 --nnodes 2 --lr 0.1

Good:

    torchrun --nproc_per_node 8 --nnodes 2 train.py --lr 0.1

What it cannot see: scripts of other projects, and options that a library declares for the script.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.audit.rule import ExplanationStep, Violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.launch_files.command_locations import place
from diagnostics.static.launch_files.embedded_scripts import embedded_scripts
from diagnostics.static.launch_files.launched_program import script_file
from diagnostics.static.launch_files.launcher_commands import Launch, launcher_calls
from diagnostics.static.launch_files.shell_commands import CommandContext
from diagnostics.static.program.import_closure import ImportClosures
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import FileKind, ProjectFile

CODE = "A521"
NAME = "launcher-option-behind-script"
SEVERITY = Severity.ERROR
READS = frozenset({FileKind.SHELL, FileKind.YAML, FileKind.DOCKERFILE, FileKind.MAKEFILE})
CHECKLIST = "the launcher's options stand before the script"
_OF_TORCH = frozenset(["--nproc-per-node", "--nnodes"])
_COUNTS = {
    "torchrun": _OF_TORCH,
    "launch": _OF_TORCH,
    "accelerate": frozenset(["--num-processes", "--num-machines", "--multi-gpu"]),
    "deepspeed": frozenset(["--num-gpus", "--hostfile"]),
}
_ALONE = {"accelerate": "what its own configuration says", "deepspeed": "all GPUs of this machine alone"}


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the launch lines whose script is given what was meant for the launcher."""
    for script in embedded_scripts(file):
        for ran in script.commands:
            for launch in launcher_calls(ran.words):
                if launch.kind in _COUNTS and launch.script:
                    yield from _handed_on(file, project, ran, launch)


def _handed_on(file: ProjectFile, project: Project, ran: CommandContext, launch: Launch) -> Iterator[Violation]:
    first = len(ran.words) - len(launch.arguments)
    given = [
        (at, name)
        for at, word in enumerate(ran.words[first:], first)
        if (name := _dashed(word)) in _COUNTS[launch.kind] and name not in launch.options
    ]
    program = script_file(launch, file, project) if given else None
    if program is None:
        return
    given = [(at, name) for at, name in given if not _knows(program, name, project)]
    if not given:
        return
    line, column = place(file, ran, launch.at)
    names = " and ".join(ran.words[at].partition("=")[0] for at, _ in given)
    yield Violation(
        file=file,
        line=line,
        column=column,
        title=f"{names} behind {launch.script} goes to that script, which does not know it, and not to {launch.kind}: "
        f"that starts {_ALONE.get(launch.kind, 'one process on one machine')}",
        fix=f"write {names} before {launch.script}",
        steps=tuple(
            ExplanationStep(place=file.place(place(file, ran, at)[0]), text=f"{ran.words[at]} is the script's here")
            for at, _ in given
        ),
        confidence=Confidence.LIKELY,
    )


def _dashed(word: str) -> str:
    """Returns an option as its launcher lists it, "" for what is none."""
    name = word.partition("=")[0]
    return "--" + name[2:].replace("_", "-") if name.startswith("--") else ""


def _knows(program: ProjectFile, name: str, project: Project) -> bool:
    """Whether any file of a program names an option, as a text or as what a parser makes of it."""
    spelled = name[2:].replace("-", "_")
    around = project.fact(ImportClosures).closure(program.shown)
    return any(spelled in project.by_path[one].text.replace("-", "_") for one in around)
