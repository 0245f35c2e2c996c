"""A variable of the script is expanded by another shell, which does not have it.

What it does: flags `$NAME` in the quoted text that a script gives to another shell (`srun bash -c '...'`, a
here-document with a quoted end), where the script sets NAME, and does not export it.

Why it matters: in quotes, the name is expanded by the shell of each task, from its environment. What is not exported is
not in it: the test is false everywhere, the rank is empty, the folder is "/".

Bad:

    LEADERS=4
    srun bash -c 'if [ "$SLURM_PROCID" -eq "$LEADERS" ]; then ...'

Good:

    export LEADERS=4

What it cannot see: variables that are exported where the script was started; one that the script sets from itself
(`PORT=${PORT:-29500}`) may be.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from diagnostics.audit.rule import ExplanationStep, Violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.launch_files.embedded_scripts import Script, embedded_scripts
from diagnostics.static.launch_files.launched_program import training
from diagnostics.static.launch_files.shell_commands import DECLARING, SHELLS, CommandContext
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import FileKind, ProjectFile

CODE = "A623"
NAME = "variable-not-exported"
SEVERITY = Severity.ERROR
READS = frozenset({FileKind.SHELL})
CHECKLIST = "what another shell expands is exported"
_READ = re.compile(r"(?<!\\)\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w{0,80})\})")
_INHERITED = re.compile(r"PATH$|^(?:SLURM_|CUDA_|NCCL_|HOME$|USER$|SHELL$|TMPDIR$|PWD$|HOSTNAME$|LANG|LC_|IFS$)")
_ELSEWHERE = frozenset(["ssh", "docker", "podman", "kubectl", "pdsh", "gcloud", "sudo", "trap", "eval", "parallel"])


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the names that are empty in another shell."""
    for script in embedded_scripts(file):
        if not any(training(one, file, project) is not None for one in script.commands):
            continue
        for ran in script.commands:
            text, first = _quoted(ran)
            if text:
                yield from _unknown(text, first, ran, script, file)


def _quoted(ran: CommandContext) -> tuple[str, int]:
    """Returns the text that a command gives to another shell as it is, and the line where it begins."""
    words = [one.text for one in ran.command.words]
    if not any(one.rpartition("/")[2] in SHELLS for one in words) or _ELSEWHERE & set(words) or ran.outer is not None:
        return "", 0
    for at, token in enumerate(ran.command.words):
        if token.text.startswith("'") and token.text.endswith("'") and at and re.fullmatch(r"-\w*c", words[at - 1]):
            return token.text[1:-1], token.line
    for one in ran.command.redirects:
        if one.operator in ("<<", "<<-") and one.target.body and re.search(r"['\"\\]", one.target.text):
            return one.target.body, one.target.line + 1
    return "", 0


def _unknown(text: str, first: int, ran: CommandContext, script: Script, file: ProjectFile) -> Iterator[Violation]:
    told: set[str] = set()
    for found in _READ.finditer(text):
        name = found[1] or found[2]
        if name in told or name in ran.exported or name in ran.assigned or _INHERITED.search(name):
            continue
        told.add(name)
        set_at = _set_at(name, ran, script)
        if not set_at or any(name in word for word in ran.words[:-1]) or _is_set(name, text):
            continue
        line = first + text.count("\n", 0, found.start())
        yield Violation(
            file=file,
            line=line,
            column=max(file.line(line).find(found[0]) + 1, 1),
            title=f"{name} is a variable of this script alone, and the other shell, which expands ${name} here, does "
            "not have it: it is empty",
            fix=f"export {name}",
            steps=(ExplanationStep(place=file.place(set_at), text=f"{name} is set and not exported"),),
            confidence=Confidence.LIKELY,
        )


def _set_at(name: str, ran: CommandContext, script: Script) -> int:
    """Returns the line at which the script itself sets a variable before a command, and not from itself."""
    line = 0
    for one in script.commands:
        if one is ran:
            break
        if one.outer is not None:
            continue
        words = one.command.words
        declared = bool(words) and words[0].text in DECLARING
        for token in (*one.command.assignments, *(words[1:] if declared else ())):
            if re.match(rf"{name}\+?=", token.text):
                if re.search(rf"\$\{{?{name}\b", token.text) or (words and not declared):
                    return 0
                line = token.line
    return line


def _is_set(name: str, text: str) -> bool:
    """Whether the text sets a variable itself, or only where there is none."""
    own = rf"(?:^|[\s;(]){name}\+?=|\bfor\s+{name}\b|\b(?:read|mapfile|readarray)\b[^\n;]*\b{name}\b"
    return (
        re.search(own, text) is not None
        or re.search(rf"\b(?:source|\.)\s{{1,9}}\S[^\n]{{0,200}}{name}", text) is not None
    )
