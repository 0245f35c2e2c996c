"""Programs that run a command and end with 0 whatever it ended with. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

_EXEC = ("-exec", "-execdir", "-ok", "-okdir")
_RETURNS = re.compile(r"^-(?!-)[a-zA-Z]*e|^--return$")


def drops_code(argv: Sequence[str]) -> str:
    r"""Returns how a program drops the exit code of the command in its arguments, in words; "" where it does not.

    `find -exec CMD {} \;` goes on, where `{} +` makes its own code of it; `script -c CMD` takes it with -e alone.
    """
    name = PurePosixPath(argv[0]).name if argv else ""
    if name in ("find", "gfind") and any(word in _EXEC for word in argv) and ";" in argv:
        return f"{name} goes on whatever a command of -exec ... \\; ends with"
    options = argv[1 : argv.index("--")] if "--" in argv else argv[1:]
    runs = name == "script" and any(word.startswith(("-c", "--command", "-qc")) for word in options)
    if runs and not any(_RETURNS.match(word) for word in options):
        return "script ends with 0 whatever its command ended with, unless it is given -e"
    return ""


def advice(argv: Sequence[str]) -> str:
    """Returns what to write in its place."""
    if PurePosixPath(argv[0]).name == "script":
        return "give script the option -e (--return), so that it ends with the code of its command"
    return (
        "let a loop of the script run the command, under `set -e`, or use `-exec ... {} +` or xargs, which tell of it"
    )
