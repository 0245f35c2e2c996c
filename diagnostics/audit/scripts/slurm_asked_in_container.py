"""A script in a container asks Slurm for the machines of the job, and the container has no Slurm.

What it does: flags scontrol, squeue and sinfo in what srun --container-image, singularity, apptainer, docker or enroot
run, a text of `bash -c` or a script of the project, where nothing of Slurm is mounted and the script does not look
whether the command is there. What it falls back to, `|| echo localhost`, is looked at.

Why it matters: the command is not found. The name of the first machine is then empty, or each machine takes its own,
and all wait at another address for ranks that never come.

Bad:

    srun --container-image=train.sqsh bash node.sh    # with: head=$(scontrol show hostnames "$SLURM_JOB_NODELIST")

Good:

    export HEAD=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)    # in the batch script
    srun --container-image=train.sqsh bash node.sh

What it cannot see: images that hold Slurm's commands, and hooks of the site that mount them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from diagnostics.audit.rule import ExplanationStep, Violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.launch_files.launcher_commands import base
from diagnostics.static.launch_files.shell_commands import CommandContext, commands
from diagnostics.static.launch_files.shell_lexer import ShellError
from diagnostics.static.launch_files.shell_parser import parse
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import FileKind, ProjectFile

CODE = "A636"
NAME = "slurm-asked-in-container"
SEVERITY = Severity.ERROR
READS = frozenset({FileKind.SHELL})
WORDS = ("scontrol", "squeue", "sinfo")
CHECKLIST = "machines of a Slurm job are looked up outside of containers"
_ENGINES = {"singularity": ("exec", "run"), "apptainer": ("exec", "run"), "docker": ("run",), "podman": ("run",),
            "enroot": ("start",)}  # fmt: skip
_MOUNTED = re.compile(r"slurm/|slurm:|/slurm\b|munge|bin/s(?:control|queue|info|run)|/usr/bin:")
_LOOKS = re.compile(r"(?:command -v|which|type|hash)\s{1,8}-?[a-zA-Z]{0,2}\s{0,4}[\"']?(?:scontrol|squeue|sinfo)")
_OWN = re.compile(r"localhost|127\.0\.0\.1|hostname|HOSTNAME")


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields what asks Slurm where it is not."""
    asked = [one for one in _all(file) if base(one.words[0]) in WORDS and not _falls_back(one)]
    if not asked or _LOOKS.search(file.text):
        return
    holder = next(_holders(file, project), None)
    for one in asked:
        around = _contained(one)
        if around is not None and not _MOUNTED.search(file.text):
            yield _hit(file, one, file, around)
        elif around is None and holder is not None and not any(_is_held(each) for each in _outer(one)):
            yield _hit(file, one, *holder)


def _hit(file: ProjectFile, asked: CommandContext, where: ProjectFile, holder: CommandContext) -> Violation:
    return Violation(
        file=file,
        line=asked.line,
        column=asked.column,
        title=f"{base(asked.words[0])} is called in a container, which has no Slurm: it is not found there, and each "
        "machine goes on with an empty name, or its own",
        fix="ask Slurm in the batch script, before the container starts, and hand the answer over in a variable",
        steps=(
            ExplanationStep(place=where.place(holder.line), text=f"{base(holder.words[0])} starts the container here"),
        ),
        confidence=Confidence.LIKELY,
    )


def _all(file: ProjectFile) -> list[CommandContext]:
    """Returns the commands of a script, with those in `$(...)`."""
    try:
        statements = parse(file.text.replace("\r\n", "\n"), 1)
    except ShellError:
        return []
    return [one for one in commands(statements, sourced=lambda _: None) if one.words]


def _outer(one: CommandContext) -> Iterator[CommandContext]:
    outer = one.outer
    while outer is not None:
        yield outer
        outer = outer.outer


def _is_held(ran: CommandContext) -> bool:
    """Whether a command starts a container."""
    words = [base(one) for one in ran.words]
    if "srun" in words and any(one.startswith("--container-image") for one in ran.words):
        return True
    return any(name in words and not {*_ENGINES[name]}.isdisjoint(words) for name in _ENGINES)


def _contained(one: CommandContext) -> CommandContext | None:
    """Returns the command whose container a text of `bash -c` is for; None where its `$(...)` is worked out before."""
    inner = one
    for outer in _outer(one):
        if _is_held(outer):
            texts = [token.text for token in outer.tokens if base(one.words[0]) in token.text]
            later = all(text.startswith("'") or "$(" not in text.replace("\\$(", "") for text in texts)
            return outer if texts and later and not inner.substituted else None
        inner = outer
    return None


def _falls_back(asked: CommandContext) -> bool:
    """Whether another way to the name is taken where the command fails: one that is no machine's own name."""
    if "||" not in asked.and_or.operators:
        return False
    at = asked.and_or.operators.index("||")
    words = " ".join(token.text for pipeline in asked.and_or.pipelines[at + 1 :] for command in pipeline.commands
                     for token in getattr(command, "words", ()))  # fmt: skip
    return not (_OWN.search(words) or words.startswith(("true", "exit", ":")))


def _holders(file: ProjectFile, project: Project) -> Iterator[tuple[ProjectFile, CommandContext]]:
    """Yields the commands of the project that run a script in a container."""
    own = base(file.shown)
    same = sum(base(one.shown) == own for one in project.audited)
    for other in project.audited if same == 1 else ():
        if other.kind is not FileKind.SHELL or other is file or own not in other.text or _MOUNTED.search(other.text):
            continue
        for ran in _all(other):
            if _is_held(ran) and any(base(word) == own for word in ran.words):
                yield other, ran
