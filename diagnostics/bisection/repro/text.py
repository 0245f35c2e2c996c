"""The whole text of a script that shows a failure."""

from __future__ import annotations

import re
import sys
import textwrap
from collections.abc import Iterable, Sequence

from diagnostics.bisection.repro.harness import environment_lines, import_lines, main_lines
from diagnostics.bisection.repro.plan import ScriptPlan
from diagnostics.bisection.repro.subject import Subject
from diagnostics.bisection.trial import Failure, FailureKind

_FUTURE = "from __future__ import annotations"
_WIDTH = 110
MAX_MESSAGE = 120


def script(subject: Subject, plan: ScriptPlan, *, title: str, seen: str) -> str:
    """Returns the script, with what it needs, what to expect and what was seen at its top."""
    lines = _top(subject, plan, title, seen)
    imports = dict.fromkeys([*subject.imports, *import_lines(plan)])
    lines += [_FUTURE, ""] if _FUTURE in imports else []
    lines += environment_lines(plan.settings)
    known = {_FUTURE, *environment_lines(plan.settings)}
    lines += [*_sorted(one for one in imports if one not in known), ""]
    if subject.body:
        lines += _spaced(subject.body)
    lines += ["", *(part for line in main_lines(plan) for part in folded(line))]
    return "\n".join(lines) + "\n"


def folded(line: str) -> list[str]:
    """Returns a line, broken at the commas within brackets where it is too long; a text with a comma is left."""
    if len(line) <= _WIDTH or any(", " in text for text in re.findall(r"'[^']*'|\"[^\"]*\"", line)):
        return [line]
    indent = " " * (len(line) - len(line.lstrip()) + 4)
    parts, depth, begin, last = [], 0, 0, 0
    for place, sign in enumerate(line):
        depth += (sign in "([{") - (sign in ")]}")
        if sign == "," and depth and line[place + 1 : place + 2] == " ":
            if place - begin + len(indent) > _WIDTH and last > begin:
                parts.append(line[begin:last])
                begin = last
            last = place + 2
    parts += [line[begin:last], line[last:]] if last > begin and len(line) - begin > _WIDTH else [line[begin:]]
    return [parts[0].rstrip(), *(indent + part.strip() for part in parts[1:])]


def what_happens(failure: Failure) -> str:
    """Returns the failure in one phrase."""
    match failure.kind:
        case FailureKind.SIGNAL:
            return f"dies of {failure.detail}"
        case FailureKind.EXCEPTION:
            return f"raises {failure.detail}{': ' if failure.message else ''}{_first_line(failure)}"
        case FailureKind.HANG:
            return "hangs"
        case FailureKind.EXIT:
            return f"ends with {failure.detail}"
        case FailureKind.NONFINITE:
            return f"gives a {failure.detail} that is not a number"
        case FailureKind.DISAGREE:
            return f"gives {failure.detail} that differ between the ranks"
        case FailureKind.MEMORY:
            return "takes more memory than there is"


def _first_line(failure: Failure) -> str:
    """The message as it was, where it is there, else without its numbers."""
    for line in reversed(failure.text.splitlines()):
        found = re.match(rf"(?:[\w.]*\.)?{re.escape(failure.detail.rpartition('.')[2])}: (.+)", line)
        if found:
            return _short(found[1])
    return _short(failure.message)


def _short(text: str) -> str:
    return text if len(text) <= MAX_MESSAGE else text[:MAX_MESSAGE].rpartition(" ")[0] + " ..."


def _top(subject: Subject, plan: ScriptPlan, title: str, seen: str) -> list[str]:
    settings = plan.settings
    needs = " and ".join(["torch", *subject.needs])
    ranks = f"starts {settings.world} processes" if settings.world > 1 else "one process"
    device = "on the CPU" if settings.device == "cpu" else f"needs a GPU ({settings.device})"
    told = [
        ("Run:", f"python repro.py    (needs {needs}{' only' if not subject.needs else ''}; {ranks}, {device})"),
        ("Expected:", "exit code 0"),
        ("Seen:", seen),
    ]
    lines = [f'"""{line}' if not number else line for number, line in enumerate(_wrapped(title, _WIDTH - 3))]
    lines.append("")
    for word, text in told:
        first, *rest = _wrapped(text, _WIDTH - 11)
        lines += [f"{word:<11}{first}", *(f"{'':<11}{line}" for line in rest)]
    return [*lines, '"""', ""]


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(_plain(text), width, break_long_words=False) or [""]


def _plain(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"""', "'''").encode("ascii", "replace").decode()


def _sorted(imports: Iterable[str]) -> list[str]:
    """The standard library's first, an empty line, the others; `import` before `from`."""
    known = sorted(set(imports), key=lambda line: (line.startswith("from"), line))
    parts = [[line for line in known if _foreign(line) is foreign] for foreign in (False, True)]
    return [*parts[0], *([""] if parts[0] and parts[1] else []), *parts[1]]


def _foreign(line: str) -> bool:
    return line.split()[1].partition(".")[0] not in sys.stdlib_module_names


def _spaced(body: str) -> Sequence[str]:
    block = body.lstrip().startswith(("@", "def ", "class ", "async def "))
    return [*([""] if block else []), body.rstrip("\n"), ""]
