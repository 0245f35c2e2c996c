"""What a throwaway environment would download: resolved by pip, nothing is installed yet."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import shutil
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.error import URLError
from urllib.parse import unquote, urlsplit
from urllib.request import Request, urlopen

from diagnostics.bisection.wanted import READY, Environment
from diagnostics.core import redaction
from diagnostics.machine.facts import ChildTimeout, MachineError

if TYPE_CHECKING:
    from diagnostics.machine.contract import Child
    from diagnostics.machine.facts import ChildResult

PIP_QUIET = ("--quiet", "--disable-pip-version-check", "--no-input", "--only-binary", ":all:")
RESOLVE_DEADLINE_S, VENV_DEADLINE_S = 600.0, 120.0
CPU_BUILDS = "https://download.pytorch.org/whl/cpu"  # 0.2 GB in place of 4 GB with CUDA
_VERSIONS = re.compile(r"\(from versions: ([^()]*)\)")
_OPTIONS_OF_INDEX = ("-i", "--index-url", "--extra-index-url", "-f", "--find-links", "--no-index")
_HEAD_S = 20.0
WRONG_USE = 2  # pip's exit code for an option it does not know


def default_cache() -> Path:
    """Returns the folder in which environments are kept."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ups-doctor" / "envs"


def plan(wanted: str, cache: Path, *, python: str, child: Child, on_cpu: bool) -> Environment:
    """Returns what this environment takes. `on_cpu`: builds without CUDA will do, where an index has them."""
    own = _own_python(wanted)
    if own:
        return Environment(wanted=wanted, python=own)
    words = shlex.split(wanted)
    if "/" in words[0]:
        return Environment(wanted=wanted, problem=f"{words[0]}: no such Python, nor a folder of an environment")
    if on_cpu and not any(word.partition("=")[0] in _OPTIONS_OF_INDEX for word in words) and _answers(CPU_BUILDS):
        words += ["--extra-index-url", CPU_BUILDS]
    folder = cache / _name(words, python)
    made = Environment(wanted=wanted, python=str(folder / "bin" / "python"), folder=folder, words=tuple(words))
    if made.ready:
        return made
    resolved = _resolved(made, folder, python, child)
    if resolved.problem:
        discard(resolved)
    return resolved


def discard(one: Environment) -> None:
    """Removes what was made of an environment that nothing is installed into."""
    if one.folder is not None and not (one.folder / READY).is_file():
        shutil.rmtree(one.folder, ignore_errors=True)


def _own_python(wanted: str) -> str:
    path = Path(wanted).expanduser()
    inside = path / "bin" / "python"
    if path.is_dir() and inside.is_file():
        return str(inside.absolute())
    return str(path.absolute()) if "/" in wanted and path.is_file() and os.access(path, os.X_OK) else ""


def _name(words: Iterable[str], python: str) -> str:
    shown = re.sub(r"[^\w.+-]+", "-", " ".join(word for word in words if not word.startswith("-")))[:40]
    key = "\0".join([*words, os.path.realpath(python)])
    return f"{shown}-{hashlib.sha256(key.encode()).hexdigest()[:8]}"


def _resolved(made: Environment, folder: Path, python: str, child: Child) -> Environment:
    """Has pip say what it would download, which costs some MB where it is new enough to read wheels from afar."""
    report = folder / "report.json"
    try:
        if not Path(made.python).is_file():
            folder.mkdir(parents=True, exist_ok=True)
            venv = child.run([python, "-m", "venv", str(folder)], deadline_s=VENV_DEADLINE_S)
            if venv.returncode:
                return _without(made, _last_error(venv.stdout + venv.stderr))
            _renew_pip(made, child)
        options = ["--dry-run", "--report", str(report), *made.words]
        result = _pip(made, ["--use-feature=fast-deps", *options], child)
        if "fast-deps" in result.stderr and result.returncode == WRONG_USE:
            result = _pip(made, options, child)
    except (ChildTimeout, MachineError, OSError) as error:
        return _without(made, str(error))
    if result.returncode:
        return _without(made, _refused(result.stdout + result.stderr))
    urls = [item["download_info"]["url"] for item in json.loads(report.read_text(encoding="utf-8"))["install"]]
    return replace(made, packages=len(urls), bytes=size_of(urls))


def _renew_pip(made: Environment, child: Child) -> None:
    """Takes the newest pip: those that come with older Pythons download whole wheels to read their names."""
    if "--no-index" not in made.words:
        _pip(made, ["--upgrade", "pip"], child)


def _pip(made: Environment, words: list[str], child: Child) -> ChildResult:
    argv = [made.python, "-m", "pip", "install", *PIP_QUIET, *words]
    return child.run(argv, deadline_s=RESOLVE_DEADLINE_S, env={"PYTHONPATH": None})


def _without(made: Environment, problem: str) -> Environment:
    return replace(made, problem=redaction.line(problem))


def _refused(text: str) -> str:
    """Returns pip's refusal in a sentence: a version without a wheel for this Python is said with those there are."""
    found = _VERSIONS.search(text)
    if found is None:
        return f"pip cannot have it: {_last_error(text)}"
    there = [one.strip() for one in found[1].split(",") if one.strip() not in ("", "none")]
    known = f"the index has {there[0]} to {there[-1]}" if there else "the index has none at all"
    return f"no wheel of it for this Python and machine; {known}"


def _last_error(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    errors = [line.partition("ERROR: ")[2] for line in lines if "ERROR: " in line]
    return (errors or lines or ["it said nothing"])[-1]


def size_of(urls: Iterable[str]) -> int | None:
    """Returns the bytes of all files, None where one of them is not told."""
    with ThreadPoolExecutor(max_workers=8) as pool:
        sizes = list(pool.map(_size, urls))
    return None if None in sizes else sum(size for size in sizes if size is not None)


def _size(url: str) -> int | None:
    parts = urlsplit(url)
    try:
        if parts.scheme == "file":
            return Path(unquote(parts.path)).stat().st_size
        headers = _head(url)
        return int(headers["content-length"]) if headers is not None and "content-length" in headers else None
    except (OSError, ValueError):
        return None


def _answers(url: str) -> bool:
    return _head(url + "/torch/") is not None


def _head(url: str) -> Mapping[str, str] | None:
    if urlsplit(url).scheme not in ("http", "https"):
        return None
    try:
        with urlopen(Request(url, method="HEAD"), timeout=_HEAD_S) as answer:  # noqa: S310 - the scheme is looked at
            return {name.lower(): value for name, value in answer.headers.items()}
    except (URLError, OSError, ValueError):
        return None
