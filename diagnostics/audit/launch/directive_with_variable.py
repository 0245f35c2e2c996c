"""A #SBATCH line holds a variable of the shell, which nobody puts in.

What it does: flags `$NAME`, `${NAME}`, `$(command)` and backticks in the #SBATCH lines before a script's first command.

Why it matters: to the shell these lines are comments, and sbatch reads them as they stand. A number of nodes or a time
is refused; a file for the output is looked for in a folder that is called "$HOME": the job ends at once and leaves no
log, or all jobs write into the one file "log-$SLURM_JOB_ID.out".

Bad:

    #SBATCH --nodes=$NUM_NODES
    #SBATCH --output=$HOME/logs/run.out

Good:

    sbatch --nodes="$NUM_NODES" --output="$HOME/logs/run.out" train.slurm

or, of the job's own number, name, user: `#SBATCH --output=logs/%x-%j.out`.

Source: https://slurm.schedmd.com/sbatch.html, "filename pattern" and "the batch script".

What it cannot see: programs elsewhere that put the values in. Where anything in the project does (envsubst, sed,
templates), or names the script and is not sbatch, it says nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from diagnostics.audit.rule import ExplanationStep, Violation
from diagnostics.core.findings import Severity
from diagnostics.static.launch_files.embedded_scripts import embedded_scripts
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import FileKind, ProjectFile

CODE = "A524"
NAME = "directive-with-variable"
SEVERITY = Severity.ERROR
READS = frozenset({FileKind.SHELL})
CHECKLIST = "what a batch script asks for are values, no variables of the shell"
_DIRECTIVE = "#SBATCH "
_VARIABLE = re.compile(r"\$(?:[A-Za-z_]|\{[A-Za-z_]|\()|`")
_FILE = re.compile(r"\s(?:--(?:output|error|input|chdir)\b|-[oeiD](?:\s|=|\S))")
_FILLS = frozenset(["envsubst", "substitute", "safe_substitute", "jinja2", "Jinja2", "expandvars", "gomplate", "m4"])
_NAMED = re.compile(r"\b(?:sed|awk|perl|eval|cat)\b|<")


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the directives that reach sbatch with a variable in them."""
    rows = file.lines
    held = [(number, row) for number, row in enumerate(rows, 1) if row.startswith(_DIRECTIVE)]
    held = [(number, row) for number, row in held if _VARIABLE.search(_value(row))]
    if not held or not rows[0].startswith("#!"):
        return
    first = min((token.line for script in embedded_scripts(file) for ran in script.commands if ran.outer is None
                 for token in (*ran.command.assignments, *ran.command.words)), default=len(rows) + 1)  # fmt: skip
    read = [(number, row) for number, row in held if number < first]
    if not read or _is_filled_in(file, project):
        return
    for number, row in read:
        option = re.split(r"[=\s]", row.removeprefix(_DIRECTIVE).lstrip())[0]
        option += "=" if option.startswith("--") else " "
        comes = (
            "the file has that text for its name, and the job leaves its log where nobody looks, or ends without one"
            if _FILE.search(_value(row))
            else "the job is refused, or does not get what was meant, whatever is exported"
        )
        yield Violation(
            file=file,
            line=number,
            column=1,
            title=f"sbatch reads `{row.strip()[:60]}` as it stands, no shell puts the variable in: {comes}",
            fix=f"give it on the command line, `sbatch {option}... {file.shown.rpartition('/')[2]}`; of the job's own "
            "number and name, write %j and %x",
            steps=(ExplanationStep(place=file.place(first), text="the first command that a shell runs"),)
            if first <= len(rows)
            else (),
        )


def _value(row: str) -> str:
    """Returns what a directive asks for, without a comment behind it."""
    return row.removeprefix(_DIRECTIVE.rstrip()).partition(" #")[0]


def _is_filled_in(file: ProjectFile, project: Project) -> bool:
    """Whether the script may be a template: something fills templates in, or reads the script as text."""
    name = file.shown.rpartition("/")[2]
    for one in project.by_path.values():
        if not one.words.isdisjoint(_FILLS):
            return True
        if one is file or name not in one.text:
            continue
        if one.kind is not FileKind.SHELL or any(
            _NAMED.search(row) for row in one.lines if name in row and not row.lstrip().startswith("#")
        ):
            return True
    return False
