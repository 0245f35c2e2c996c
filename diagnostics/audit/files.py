"""Which files an audit reads: of folders those that may hold a fault, of paths given by name every one."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath

from diagnostics.audit import notebooks
from diagnostics.core.errors import UsageError, from_os_error
from diagnostics.core.files import is_folder
from diagnostics.static.program.project_file import FileKind, ProjectFile
from diagnostics.static.program.source_file import MAKEFILES

# Bytes; a larger file was generated or holds data, and nobody would read what is found in it.
LARGEST = {
    FileKind.PYTHON: 2 << 20,
    FileKind.YAML: 1 << 19,
    FileKind.SHELL: 1 << 18,
    FileKind.DOCKERFILE: 1 << 18,
    FileKind.MAKEFILE: 1 << 18,
    FileKind.REQUIREMENTS: 1 << 16,
    FileKind.JSON: 1 << 16,
}
LARGEST_NOTEBOOK = 64 << 20  # most of it pictures; of its code, as much is read as of other Python
# Hidden folders are read, for the start-up scripts and workflows in them, but those of other tools.
LEFT_OUT = frozenset(
    ["node_modules", "build", "dist", "__pycache__", "site-packages", "__pypackages__", ".git", ".hg", ".svn", ".tox",
     ".nox", ".venv", ".cache", ".eggs", ".idea", ".vscode", ".ipynb_checkpoints", ".mypy_cache", ".ruff_cache",
     ".pytest_cache", ".local", ".conda", ".cargo", ".npm", ".terraform", ".hypothesis", ".Trash"]
)  # fmt: skip
SUFFIXES = {
    ".py": FileKind.PYTHON,
    ".ipynb": FileKind.PYTHON,
    ".sh": FileKind.SHELL,
    ".bash": FileKind.SHELL,
    ".slurm": FileKind.SHELL,
    ".sbatch": FileKind.SHELL,
    ".yaml": FileKind.YAML,
    ".yml": FileKind.YAML,
    ".dockerfile": FileKind.DOCKERFILE,
}
_OF_DEEPSPEED = re.compile(r"(?:^|[_.-])(?:ds|deepspeed|zero)(?![a-z])", re.IGNORECASE)  # of JSON, no other is read
OF_NO_KIND = "is no Python, notebook, shell script, YAML, Dockerfile or Makefile"
SHELLS = (b"/sh", b"/bash", b"/dash", b"/zsh", b"/ksh", b" sh", b" bash", b" dash", b" zsh", b" ksh")


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """One file that could not be read, and why."""

    path: str
    problem: str
    named: bool = False  # the user asked for it by name, and rules read files of its kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Collected:
    """The files of an audit, sorted by path, and those that could not be read."""

    files: tuple[ProjectFile, ...]
    skipped: tuple[Skipped, ...] = ()


def collect(
    paths: Sequence[Path], *, below: Path | None = None, excluded: Callable[[str], bool] = lambda shown: False
) -> Collected:
    """Returns every file of `paths`, shown relative to `below` (the current folder) where it lies below it.

    Raises UsageError for a path that is not there.
    """
    files: dict[str, ProjectFile] = {}
    skipped: list[Skipped] = []
    unlisted: list[tuple[Path, OSError]] = []
    folder = Path(os.path.abspath(below or Path.cwd()))  # noqa: PTH100 - keeps links, unlike resolve()
    for path, given in _paths(paths, unlisted):
        shown = shown_path(path, folder)
        if not given and excluded(shown):
            continue
        one = read(path, shown, given=given)
        if isinstance(one, ProjectFile):
            files.setdefault(shown, one)
        elif one is not None:
            skipped.append(one)
    skipped += [Skipped(path=shown_path(path, folder), problem=_reason(error)) for path, error in unlisted]
    return Collected(files=tuple(files[shown] for shown in sorted(files)), skipped=tuple(skipped))


def found_paths(paths: Sequence[Path], *, excluded: Callable[[str], bool] = lambda shown: False) -> Iterator[Path]:
    """Yields the files of some kind that rules read, without reading them; a path that is gone has none."""
    folder = Path.cwd()
    for path, given in _paths([one for one in paths if one.exists()], []):
        try:
            if kind_of(path) is not None and (given or not excluded(shown_path(path, folder))):
                yield path
        except OSError:
            continue


def shown_path(path: Path, folder: Path) -> str:
    """Returns a path relative to `folder` where it lies below it, else absolute."""
    whole = PurePath(os.path.abspath(path))  # noqa: PTH100
    return str(whole.relative_to(folder)) if whole.is_relative_to(folder) else str(whole)


def read(path: Path, shown: str, *, given: bool = False) -> ProjectFile | Skipped | None:
    """Returns one file, why it cannot be read, or None where it is of no kind that rules read."""
    try:
        kind = kind_of(path)
        if kind is None:
            return Skipped(path=shown, problem=OF_NO_KIND) if given else None
        notebook = path.suffix == ".ipynb"
        raw = _bytes(path, LARGEST_NOTEBOOK if notebook else LARGEST[kind])
    except (OSError, ValueError) as error:
        return Skipped(path=shown, problem=_reason(error))
    if not notebook:
        return ProjectFile(shown, raw, kind)
    return notebooks.read(shown, raw, largest=LARGEST[FileKind.PYTHON])


def kind_of(path: Path) -> FileKind | None:
    """Returns a file's kind by its name; without a suffix by its first line."""
    name = path.name
    if name.startswith("Dockerfile") or name == "Containerfile":
        return FileKind.DOCKERFILE
    if name in MAKEFILES or path.suffix == ".mk":
        return FileKind.MAKEFILE
    if path.suffix == ".txt" and "requirements" in (path.stem.partition("-")[0].partition("_")[0], path.parent.name):
        return FileKind.REQUIREMENTS
    if path.suffix.lower() == ".json":
        deepspeed = _OF_DEEPSPEED.search(path.stem) or _OF_DEEPSPEED.search(path.parent.name)
        return FileKind.JSON if deepspeed else None
    if path.suffix or name.startswith("."):
        return SUFFIXES.get(path.suffix.lower())
    if not stat.S_ISREG(path.stat().st_mode):
        return None
    with path.open("rb") as file:
        first = file.readline(200)
    if not first.startswith(b"#!"):
        return None
    if b"python" in first:
        return FileKind.PYTHON
    return FileKind.SHELL if any(shell in first for shell in SHELLS) else None


def _bytes(path: Path, largest: int) -> bytes:
    found = path.stat()
    if not stat.S_ISREG(found.st_mode):
        raise ValueError("is no regular file")  # a pipe would be waited for
    if found.st_size > largest:
        raise ValueError(_too_large(found.st_size, largest))
    with path.open("rb") as file:
        data = file.read(largest + 1)
    if len(data) > largest:  # it grew meanwhile, or lies in a file system that does not know its size
        raise ValueError(_too_large(len(data), largest))
    return data


def _too_large(size: int, largest: int) -> str:
    return f"holds {size / 2**20:.1f} MiB, more than the {largest / 2**20:g} MiB that are read"


def _reason(error: OSError | ValueError) -> str:
    if isinstance(error, OSError):
        return from_os_error(error, action="cannot be read", path="").message
    return str(error)


def _paths(paths: Iterable[Path], skipped: list[tuple[Path, OSError]]) -> Iterator[tuple[Path, bool]]:
    """Yields (file, whether it was given by name)."""
    seen: set[tuple[int, int]] = set()
    for path in paths:
        if path.is_dir():
            for file in _walk(path, seen, skipped):
                yield file, False
        elif path.exists() or path.is_symlink():
            yield path, True
        else:
            raise UsageError(f"no such file or folder: {path}", hint=f"check the spelling: ls -l {path.parent}")


def _is_of_a_report(folder: Path) -> bool:
    """Whether `ups-doctor run` wrote a folder, with copies of sources, or `bisect-model`, with a script that fails."""
    of_a_run = folder.name == "record" and (folder / "job.json").is_file() and (folder / "agents").is_dir()
    return of_a_run or ((folder / "tries.jsonl").is_file() and (folder / "report.json").is_file())


def _walk(top: Path, seen: set[tuple[int, int]], skipped: list[tuple[Path, OSError]]) -> Iterator[Path]:
    """Yields the files below a folder; a folder reached twice, by a link, is read once."""
    left = [top]
    while left:
        folder = left.pop()
        try:
            status = folder.stat()
            if (status.st_dev, status.st_ino) in seen:
                continue
            seen.add((status.st_dev, status.st_ino))
            entries = list(os.scandir(folder))
        except OSError as error:
            skipped.append((folder, error))
            continue
        for entry in entries:
            path = folder / entry.name
            if not is_folder(entry):
                yield path
            elif entry.name not in LEFT_OUT and not (path / "pyvenv.cfg").exists() and not _is_of_a_report(path):
                left.append(path)
