"""The whole text of a script that shows a failure."""

from __future__ import annotations

import re
import sys
import textwrap
from collections.abc import Iterable, Sequence

from diagnostics.bisection.repro_harness import Plan, environment_lines, import_lines, main_lines
from diagnostics.bisection.repro_subject import Subject
from diagnostics.bisection.trial import Failure, Kind

_FUTURE = "from __future__ import annotations"
_WIDTH = 110


def script(subject: Subject, plan: Plan, *, title: str, seen: str) -> str:
    """Returns the script, with what it needs, what to expect and what was seen at its top."""
    lines = _top(subject, plan, title, seen)
    imports = dict.fromkeys([*subject.imports, *import_lines(plan)])
    lines += [_FUTURE, ""] if _FUTURE in imports else []
    lines += environment_lines(plan.settings)
    lines += [*_sorted(one for one in imports if one != _FUTURE), ""]
    if subject.body:
        lines += _spaced(subject.body)
    lines += ["", *main_lines(plan)]
    return "\n".join(lines) + "\n"


def what_happens(failure: Failure) -> str:
    """Returns the failure in one phrase."""
    match failure.kind:
        case Kind.SIGNAL:
            return f"dies of {failure.detail}"
        case Kind.EXCEPTION:
            return f"raises {failure.detail}{': ' if failure.message else ''}{_first_line(failure)}"
        case Kind.HANG:
            return "hangs"
        case Kind.EXIT:
            return f"ends with {failure.detail}"
        case Kind.NONFINITE:
            return f"gives a {failure.detail} that is not a number"
        case Kind.DISAGREE:
            return f"gives {failure.detail} that differ between the ranks"
        case Kind.MEMORY:
            return "takes more memory than there is"


def _first_line(failure: Failure) -> str:
    """The message as it was, where it is there, else without its numbers."""
    for line in reversed(failure.text.splitlines()):
        found = re.match(rf"(?:[\w.]*\.)?{re.escape(failure.detail.rpartition('.')[2])}: (.+)", line)
        if found:
            return found[1][:200]
    return failure.message[:200]


def _top(subject: Subject, plan: Plan, title: str, seen: str) -> list[str]:
    settings = plan.settings
    needs = " and ".join(["torch", *subject.needs])
    ranks = f"starts {settings.world} processes" if settings.world > 1 else "one process"
    device = "on the CPU" if settings.device == "cpu" else f"needs a GPU ({settings.device})"
    told = [
        ("Run:", f"python repro.py    (needs {needs}{' only' if not subject.needs else ''}; {ranks}, {device})"),
        ("Expected:", "exit code 0"),
        ("Seen:", seen),
    ]
    lines = [f'"""{_plain(title)}', ""]
    for word, text in told:
        first, *rest = textwrap.wrap(_plain(text), _WIDTH - 11, break_long_words=False) or [""]
        lines += [f"{word:<11}{first}", *(f"{'':<11}{line}" for line in rest)]
    return [*lines, '"""', ""]


def _plain(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"""', "'''").encode("ascii", "replace").decode()


def _sorted(imports: Iterable[str]) -> list[str]:
    """The standard library's first, each part in alphabetical order."""
    known = sorted(
        set(imports), key=lambda line: (line.split()[1].partition(".")[0] not in sys.stdlib_module_names, line)
    )
    return sorted(known, key=lambda line: (_foreign(line), line.startswith("from"), line))


def _foreign(line: str) -> bool:
    return line.split()[1].partition(".")[0] not in sys.stdlib_module_names


def _spaced(body: str) -> Sequence[str]:
    block = body.lstrip().startswith(("@", "def ", "class ", "async def "))
    return [*([""] if block else []), body.rstrip("\n"), ""]
