"""Which signal Slurm sends to the shell of a batch script alone, what answers it there, and what in the program."""

from __future__ import annotations

import re

from diagnostics.static.launch_files.embedded_scripts import Script
from diagnostics.static.launch_files.shell_commands import CommandContext
from diagnostics.static.program.import_closure import ImportClosures
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

_SIGNAL = re.compile(r"\"?(?:R?BR?):(?:SIG)?(\w{1,20})(?:@\d{1,9})?\"?", re.IGNORECASE)
_SETS = re.compile(r"\bsignal\.signal\(|\badd_signal_handler\(|\bsignal\(\s{0,9}(?:signal\.)?SIG")
_SENDS = re.compile(r"\bkill(?:pg)?\(|send_signal\(|raise_signal\(|SIG_(?:IGN|DFL)")
_NUMBERS = {"10": "USR1", "12": "USR2", "15": "TERM", "1": "HUP", "2": "INT", "18": "CONT"}


def sent(script: Script) -> str:
    """Returns the signal that Slurm sends to the shell of a script alone, "" where it sends none."""
    option = script.header("signal")
    told = _SIGNAL.fullmatch(option.value) if option is not None else None
    return _NUMBERS.get(told[1], told[1].upper()) if told is not None else ""


def head(script: Script) -> int:
    """Returns the line that asks for the signal."""
    option = script.header("signal")
    return option.line if option is not None else 1


def traps(ran: CommandContext, signal: str) -> bool:
    """Returns whether a command has the shell do something at a signal."""
    if ran.words[:1] != ("trap",) or len(ran.words) < 3 or ran.words[1] in ("", "-", ":"):
        return False
    return any(_NUMBERS.get(one, one.upper().removeprefix("SIG")) == signal for one in ran.words[2:])


def handled(signal: str, program: ProjectFile, project: Project) -> tuple[ProjectFile, int] | None:
    """Returns where a program, or what it imports, has a handler for a signal."""
    for name in (program.shown, *sorted(project.fact(ImportClosures).closure(program.shown) - {program.shown})):
        file = project.by_path[name]
        if _SETS.search(file.text or "") is None:
            continue
        for number, row in enumerate(file.lines, 1):
            if re.search(rf"\bSIG{signal}\b", row) and not _SENDS.search(row) and not row.lstrip().startswith("#"):
                return file, number
    return None
