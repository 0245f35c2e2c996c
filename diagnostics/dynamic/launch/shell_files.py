"""The script that a shell is started with, and the files that a script sources. Pure."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePath, PurePosixPath

from diagnostics.static.launch_files.shell_commands import SHELLS

_WITH_VALUE = ("-o", "+o", "-O", "+O", "--rcfile", "--init-file")
# Behind `$here/`, `$(dirname "$0")/`, `${BASH_SOURCE%/*}/` stands the name below a folder that only the shell knows.
_EXPANDED = re.compile(r"^.*(?:[)}`*]|\$\w+)[\"']*/")
_SOURCES = re.compile(r"(?:^|[;&|{(]|\b(?:then|do|else))[ \t]*(?:\.|source)[ \t]+([^\n;&|]+)", re.MULTILINE)


def sourced_words(text: str) -> Iterator[str]:
    """Yields what stands behind `source` and `.` in a script."""
    for found in _SOURCES.finditer(text):
        yield found[1]


def sourced_paths(word: str, folders: Iterable[PurePath]) -> Iterator[str]:
    """Yields the paths that a word behind `source` may stand for, seen from the folders of the script and the shell.

    What the shell expands in front of a name is taken for one of these folders, or the one above the script's.
    """
    name = _EXPANDED.sub("", word.strip())
    whole = name == word.strip()
    name = (name.split() or [""])[0].strip("\"'")
    if not name or "$" in name or "`" in name or name.startswith("-"):
        return
    given = list(folders)
    for folder in given if whole else [*given, *(one.parent for one in given[-1:])]:
        yield os.path.normpath(folder / name)


def script_given(argv: Sequence[str]) -> tuple[tuple[str, ...], str, str] | None:
    """Returns the options of a shell's command line, and its text or the name of its file."""
    if not argv or PurePosixPath(argv[0]).name.lstrip("-") not in SHELLS:
        return None
    options: list[str] = []
    at = 1
    while at < len(argv) and argv[at].startswith(("-", "+")) and argv[at] not in ("-", "--"):
        options.append(argv[at])
        if argv[at] in _WITH_VALUE or argv[at].endswith("o"):
            at += 1
            options.extend(argv[at : at + 1])
        at += 1
    single = [one for one in options if re.fullmatch(r"[-+][a-zA-Z]+", one)]
    if at >= len(argv) or any("s" in one for one in single):  # it reads its script from elsewhere
        return None
    as_text = any(not one.startswith("--") and one.startswith("-") and "c" in one for one in options)
    return (tuple(options), argv[at], "") if as_text else (tuple(options), "", argv[at])
