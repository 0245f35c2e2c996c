"""What tells one host's copy of code and data from another's: hashes of source files, git's word, samples of data."""

import hashlib
import os
import subprocess
import time
from pathlib import Path

SOURCE = (".py", ".pyx", ".pyi", ".sh", ".bash", ".yaml", ".yml", ".toml", ".json", ".cfg", ".ini", ".cu", ".cpp", ".c",
          ".h", ".cuh", ".txt", ".slurm", ".sbatch")  # fmt: skip
NOT_CODE = {".git", ".venv", "node_modules", "__pycache__", ".mypy_cache", ".ruff_cache", ".tox",
            ".pytest_cache", "site-packages", "wandb", "mlruns", "lightning_logs", "reports", "runs", "outputs",
            "checkpoints"}  # fmt: skip
MOST_FILES = 5000
LARGEST_SOURCE = 1 << 20
SAMPLE = 1 << 16


def prints(folder, data, deadline_s):
    """Returns `code` and `data`; what is not finished in time says so."""
    until = time.monotonic() + deadline_s
    return {"code": code(Path(folder), until), "data": [print_of_data(Path(path), until) for path in data]}


def code(folder, until):
    """Returns each source file's hash, git's commit and whether anything was changed since."""
    if not folder.is_dir():
        return {"missing": True}
    files, whole = {}, True
    for path in source_files(folder):
        if len(files) >= MOST_FILES or time.monotonic() > until:
            whole = False
            break
        try:
            told = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
        except OSError as error:
            told = "unreadable: %s" % error.strerror
        files[str(path.relative_to(folder))] = told
    total = hashlib.sha256(repr(sorted(files.items())).encode()).hexdigest()[:16]
    return {"missing": False, "files": files, "total": total, "whole": whole, **git(folder)}


def source_files(folder):
    """Yields a folder's sources in a fixed order: what git would take, else all but environments and outputs."""
    listed = said_by_git(folder, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    for path in [folder / name for name in sorted(listed.split("\0")) if name] if listed else walked(folder):
        if path.suffix in SOURCE and path.is_file() and path.stat().st_size <= LARGEST_SOURCE:
            yield path


def walked(folder):
    """Yields the paths of a folder's files in a fixed order."""
    for root, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in NOT_CODE and not is_environment(Path(root, name)))
        yield from (Path(root, name) for name in sorted(names))


def is_environment(folder):
    """Returns whether a folder is a virtual environment."""
    return (folder / "pyvenv.cfg").exists()


def git(folder):
    """Returns the commit that is checked out and whether files that git tracks differ from it; "" without git."""
    commit = said_by_git(folder, "rev-parse", "HEAD")
    changed = said_by_git(folder, "status", "--porcelain", "--untracked-files=no") if commit else ""
    return {"commit": commit, "dirty": bool(changed)}


def said_by_git(folder, *words):
    """Returns what git prints, "" where it cannot say."""
    asked = ["git", "--no-optional-locks", "-C", str(folder), *words]
    try:
        done = subprocess.run(asked, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              timeout=10, check=False)  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.decode("utf-8", "replace").strip() if done.returncode == 0 else ""


def print_of_data(path, until):
    """Returns number, bytes and a hash over names, sizes and samples of what lies below a path."""
    row = {"path": str(path), "missing": not path.exists(), "files": 0, "bytes": 0, "hash": "", "whole": True}
    total = hashlib.sha256()
    for file in data_files(path):
        if time.monotonic() > until:
            row["whole"] = False
            break
        total.update(("%s " % file.relative_to(path)).encode("utf-8", "surrogateescape"))
        try:
            size = file.stat().st_size
            total.update(b"%d " % size + samples(file, size))
            row["bytes"] += size
        except OSError as error:
            total.update(str(error.strerror).encode())
        row["files"] += 1
    row["hash"] = total.hexdigest()[:16]
    return row


def data_files(path):
    """Yields a file, or a folder's files in a fixed order."""
    if path.is_file():
        yield path
    for root, folders, names in os.walk(path):
        folders.sort()
        yield from (Path(root, name) for name in sorted(names) if Path(root, name).is_file())


def samples(file, size):
    """Returns the beginning, the middle and the end of a file."""
    with file.open("rb") as opened:
        parts = [opened.read(SAMPLE)]
        for place in (size // 2, size - SAMPLE):
            if place > SAMPLE:
                opened.seek(place)
                parts.append(opened.read(SAMPLE))
    return b"".join(parts)
