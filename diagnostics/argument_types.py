"""Words of a command line that name a path, a process or a script; what is wrong with one is a sentence, and code 2."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from diagnostics.core.errors import UsageError, from_os_error
from diagnostics.core.shell_quoting import pasteable


class PrecisionArgument(click.Choice):  # type: ignore[type-arg]  # no generic class before click 8.2
    """A type of number for autocast, by torch's name or the short one that configurations have: bfloat16, bf16."""

    _SHORT = (("bfloat16", "bf16"), ("float16", "fp16"))

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Returns the one of two spellings that is among the choices."""
        same = next((names for names in self._SHORT if value in names), (value,))
        return super().convert(next((one for one in same if one in self.choices), value), param, ctx)


class PathArgument(click.Path):
    """A path that is no empty word: that would be the current folder, and was a variable that is not set.

    `kind` says what has to be there: "file" (or a pipe), "folder", "any", or "new folder", which may be missing.
    """

    def __init__(self, kind: str = "") -> None:
        super().__init__(path_type=Path)
        self.kind = kind

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Returns the Path. Raises UsageError where it is empty, missing or of another kind."""
        if os.fspath(value) == "":
            raise UsageError(f"{_name(param)} is empty: a variable that is not set?")
        path = Path(value)
        if not self.kind or (self.kind == "new folder" and not os.path.lexists(path)):
            return path
        if not os.path.lexists(path):
            raise _refused(errno.ENOENT, path)
        if self.kind == "file" and path.is_dir():
            raise _refused(errno.EISDIR, path)
        if self.kind.endswith("folder") and not path.is_dir():
            raise UsageError(f"{path} is a file, a folder was expected", hint=f"look at it: ls -l {pasteable(path)}")
        return path


class ProcessArgument(click.IntRange):
    """The number of a process."""

    def __init__(self) -> None:
        super().__init__(min=1)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Returns the number. Raises UsageError for anything else."""
        if isinstance(value, int):
            return value
        if not (value.isascii() and value.isdigit() and int(value)):
            raise UsageError(
                f"{_name(param)} {value!r} is no number of a process",
                hint="find one of the job's: pgrep -af train.py",
            )
        return int(value)


def refuse_unknown_script(words: Sequence[str]) -> None:
    """Raises UsageError where what stands behind --script is neither a file nor a program."""
    if words and not Path(words[0]).is_file() and (words[0].endswith(".py") or shutil.which(words[0]) is None):
        what = "file" if words[0].endswith(".py") else "file or program"
        told = f"{words[0]}: no such {what}" if words[0] else "--script is empty: a variable that is not set?"
        raise UsageError(told, hint="name what you start: --script train.py --its-options")


def _name(param: click.Parameter | None) -> str:
    if param is None:
        return "a path"
    return param.opts[-1] if isinstance(param, click.Option) else param.human_readable_name.strip("[].")


def _refused(code: int, path: Path) -> UsageError:
    told = from_os_error(OSError(code, os.strerror(code)), action="cannot read", path=path)
    return UsageError(told.message, hint=told.hint)
