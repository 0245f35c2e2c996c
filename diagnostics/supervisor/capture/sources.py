"""Copies into the record what diagnosis reads of the job's own files: sources in call paths, launch scripts.

A record can then be diagnosed on another machine, and after the files have changed. Copies have no secrets and as
many lines as the original. sources/index.json says which path each copy had.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from diagnostics.core import redaction
from diagnostics.core.errors import DoctorError
from diagnostics.core.frame import Frame
from diagnostics.core.frames import is_installed, user_frames
from diagnostics.dynamic.launch.launch_settings import NAMED, SCRIPT, makefiles
from diagnostics.dynamic.launch.shell_files import script_given, sourced_paths, sourced_words
from diagnostics.record.agent_data import AgentData, homes_of
from diagnostics.record.gdb_report import parse_core_text
from diagnostics.record.record import AGENT_SITE, SOURCE_INDEX, RunRecord
from diagnostics.record.stacks import parse_outside_stacks
from diagnostics.record.supervisor_facts import Missing
from diagnostics.static.program.source_file import SourceFile, imported_files
from diagnostics.supervisor.capture.snapshot import keep_text

MOST_FILES = 200
MOST_IMPORTED = 120  # files that were in no call path
MOST_BYTES = 512 << 10
_INSTALLED = re.compile(r"/(?:site|dist)-packages/|/lib/python3\.\d+/")
_TRACEBACK = re.compile(r'File "([^"\n]{1,1000}\.py)", line \d')
_SHELL = re.compile(r"\.(?:sh|bash|zsh|slurm|sbatch|mk)$|(?:^|/)Makefile$")


def collect_sources(record_folder: Path, cwd: Path, argvs: Iterable[Sequence[str]]) -> tuple[Missing, ...]:
    """Copies the user's files seen at work in the record, and the scripts named in `argvs`, into sources/.

    What was seen last in a process, and scripts, come first where there are more than MOST_FILES. Never raises.
    """
    try:
        record = RunRecord.load(record_folder)
    except DoctorError as error:
        return (Missing(what="sources", why=str(error)),)
    index: dict[str, str] = {}
    missing: list[Missing] = []
    texts: dict[Path, str] = {}
    scripts = _scripts(argvs, cwd, texts)
    kept = record.before()  # the verdict is about that state
    in_paths = [path for one in (record, kept) if one is not None for path in _in_call_paths(one, cwd)]
    seen = dict.fromkeys([*scripts, *in_paths])
    waiting, imported = deque(seen), set[Path]()
    while waiting:
        path = waiting.popleft()
        if len(index) >= MOST_FILES:
            left = {path, *waiting} - imported
            why = f"more than {MOST_FILES} files were seen; the rest is not kept"
            missing += [Missing(what="sources", why=why)] if left else []
            break
        text = texts[path] if path in texts else _read(path)
        if text is None:
            continue
        if path.suffix == ".py" and len(imported) < MOST_IMPORTED:
            # Functions that a rank passed through are in no call path: analysis follows them into these.
            more = [one for one in _imports(path, text) if one not in seen and one not in imported]
            imported.update(more)
            waiting += more
        name = f"{len(index) + 1:03d}-{re.sub(r'[^A-Za-z0-9_.-]', '_', path.name)[-80:]}"
        shown = redaction.source(text, python=path.suffix == ".py")
        failed = keep_text(record_folder / "sources" / name, shown)
        missing += failed
        if not failed:
            index[str(path)] = name
    return (*missing, *keep_text(record_folder / "sources" / SOURCE_INDEX, json.dumps(index, indent=1) + "\n"))


def _imports(path: Path, text: str) -> list[Path]:
    """Returns the files beside a Python file that its imports may mean, those that exist."""
    named = imported_files(str(path), SourceFile(path, text))
    found = [Path(os.path.normpath(name)) for name in dict.fromkeys(named) if not _INSTALLED.search(name)]
    return [one for one in found if one.is_file()]


def _scripts(argvs: Iterable[Sequence[str]], cwd: Path, texts: dict[Path, str]) -> list[Path]:
    """Returns the files on command lines, and those that shell scripts among them name; keeps texts that were read."""
    told = list(argvs)
    waiting = [path for argv in told for word in argv for path in _named(word, cwd)]
    waiting += [_below(cwd, name) for argv in told for name in makefiles(argv)]
    waiting += [_below(cwd, given[2]) for argv in told if (given := script_given(argv)) is not None and given[2]]
    found: dict[Path, None] = {}
    while waiting and len(found) < MOST_FILES:
        path = waiting.pop(0)
        if path in found or (text := _read(path)) is None:
            continue
        found[path], texts[path] = None, text
        if _SHELL.search(path.name) or text.startswith("#!"):
            folders = tuple(dict.fromkeys((cwd, path.parent)))
            waiting += [_below(folder, match[0]) for match in NAMED.finditer(text) for folder in folders]
            waiting += [Path(one) for word in sourced_words(text) for one in sourced_paths(word, folders)]
    return list(found)


def _named(word: str, cwd: Path) -> Iterator[Path]:
    """Returns the file that a word of a command line names: `run.sh`, `--config=conf/a.yaml`, or none."""
    if len(word) > 4096:  # a program in itself: bash -c, python -c
        return
    for part in dict.fromkeys((word, word.rpartition("=")[2])):
        told = part.endswith(".py") or SCRIPT.search(part) is not None
        if told or ("\n" not in part and "/" in part and _is_text_program(_below(cwd, part))):
            yield _below(cwd, part)
    if " " in word:
        yield from (_below(cwd, match[0]) for match in NAMED.finditer(word))


def _is_text_program(path: Path) -> bool:
    """Whether a file of the user's without a suffix begins with #!."""
    if path.suffix or str(path).startswith(("/usr/", "/bin/", "/sbin/", "/opt/")) or "/bin/" in str(path):
        return False
    return (_read(path) or "").startswith("#!")


def _in_call_paths(record: RunRecord, cwd: Path) -> Iterator[Path]:
    doctors = next((agent.agent_folder for agent in record.agents if agent.agent_folder), str(AGENT_SITE.parent))
    homes = homes_of(record.agents)
    for agent in record.agents:
        folder = Path(agent.cwd) if agent.cwd else cwd
        yield from (_below(folder, word) for word in agent.argv if word.endswith(".py"))
        yield from _own(_frames(agent), folder, agent.agent_folder)
        fault = record.fault_of(agent)
        for thread in fault.threads if fault is not None else ():
            yield from _own(thread.frames, folder, agent.agent_folder)
    for frames in record.frames.values():
        for one in frames.threads:
            yield from _own(one.frames, cwd, doctors)
    for name, text in record.captures.items():
        if name.startswith("stacks-from-outside-"):
            yield from (path for stack in parse_outside_stacks(text, homes) for path in _own(stack, cwd, doctors))
        elif name.startswith("core-") and (core := parse_core_text(text)) is not None:
            yield from _own(core.python, cwd, doctors)
    for text in record.outputs.values():
        yield from (_below(cwd, name) for name in _TRACEBACK.findall(text) if not _INSTALLED.search(name))


def _frames(agent: AgentData) -> list[Frame]:
    """Returns the frames an agent recorded, the latest first."""
    paths = [event.path for event in agent.events] + [one.path for one in agent.constructions]
    paths += [one.path for one in agent.collectives]
    return [frame for path in dict.fromkeys(reversed(paths)) for frame in path]


def _own(frames: Iterable[Frame], folder: Path, agent_folder: str) -> Iterator[Path]:
    own = (frame for frame in user_frames(frames, agent_folder=agent_folder) if not is_installed(frame))
    kept = dict.fromkeys(frame.file for frame in own)
    yield from (_below(folder, file) for file in kept if file.endswith(".py"))


def _below(folder: Path, name: str) -> Path:
    return Path(os.path.normpath(folder / name))


def _read(path: Path) -> str | None:
    """Returns a regular text file of at most MOST_BYTES, None for anything else."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return None
    facts = os.fstat(fd)
    if not stat.S_ISREG(facts.st_mode) or facts.st_size > MOST_BYTES:  # a folder cannot be made a file object, even
        os.close(fd)
        return None
    with os.fdopen(fd, "rb") as file:
        data = file.read(MOST_BYTES)
    return None if b"\0" in data else data.decode("utf-8", "replace")
