"""The lines of shell scripts, YAML and the job's own Python files that set what a launcher uses. Pure.

Files are those named on the command lines of the job's processes, what these files source or name in turn, and the
Python files seen in call paths.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from diagnostics.core.frames import shown_path, user_frames
from diagnostics.dynamic.job.job import Job

SCRIPT = re.compile(r"\.(?:sh|bash|zsh|slurm|sbatch|ya?ml|json|toml|env|mk|cfg|ini)$|(?:^|/)(?:Makefile|\.env)$")
NAMED = re.compile(r"(?<![\w./${}\-])[\w./${}\-]+\.(?:sh|bash|slurm|sbatch|ya?ml|env|py)\b")
MAKE = ("make", "gmake")
MAKEFILES = ("GNUmakefile", "makefile", "Makefile")  # in the order in which make looks for them
MAX_FILES = 40
LAUNCHERS = re.compile(
    r"(?<![\w./-])(?:[\w./-]*/)?(?:torchrun|accelerate|deepspeed|horovodrun|mpirun|mpiexec|srun|lightning)(?![\w.-])"
    r"|-m\s+(?:torch\.distributed\.(?:run|launch)|accelerate\.commands\.launch)\b"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptLine:
    """One line of a file of the job; `location` is "run.sh:4"."""

    location: str
    text: str
    language: str  # shell | yaml | python


def settings_in_scripts(job: Job) -> tuple[ScriptLine, ...]:
    """Returns every line that is no comment, shell scripts first, then YAML and the like, then Python."""
    lines = [line for file in _files(job) for line in _lines(job, file)]
    order = ("shell", "yaml", "python")
    return tuple(sorted(lines, key=lambda line: order.index(line.language)))


def lines_setting(job: Job, names: Sequence[str], value: str = "", *, also: str = "") -> tuple[str, ...]:
    """Returns the lines that set one of `names` (MASTER_PORT also finds --master_port and master_port:) to `value`.

    The lines with the value itself come first; a name that gets it from a shell variable or expression comes after.
    `also` is a text that counts as a name.
    """
    spelled = [*(_spelled(name) for name in names), *([re.escape(also)] if also else [])]
    named = re.compile("|".join(spelled), re.IGNORECASE)
    valued = re.compile(rf"(?<![\w.]){re.escape(value)}(?![\w])") if value else None
    both, only_named = [], []
    for line in settings_in_scripts(job):
        found = named.search(line.text)
        if found is None:
            continue
        if valued is not None and valued.search(line.text):
            both.append(line.location)
        elif _sets(line.text, found):
            only_named.append(line.location)
    return tuple(dict.fromkeys([*both, *only_named]))


def lines_with(job: Job, pattern: re.Pattern[str], *languages: str) -> tuple[ScriptLine, ...]:
    """Returns the lines that fit `pattern`, of these languages or of all."""
    return tuple(
        line
        for line in settings_in_scripts(job)
        if (not languages or line.language in languages) and pattern.search(line.text)
    )


def launch_lines(job: Job) -> tuple[str, ...]:
    """Returns the locations of the lines of shell scripts that start a launcher."""
    return tuple(line.location for line in lines_with(job, LAUNCHERS, "shell"))


def makefiles(argv: Sequence[str]) -> tuple[str, ...]:
    """Returns the files that `make` reads without being told, relative to where it was started; () for others."""
    if not argv or PurePosixPath(argv[0]).name not in MAKE or any(word.startswith("-f") for word in argv[1:]):
        return ()
    at = next((index for index, word in enumerate(argv) if word in ("-C", "--directory")), None)
    folder = argv[at + 1] if at is not None and at + 1 < len(argv) else ""
    return tuple(str(PurePosixPath(folder) / name) for name in MAKEFILES)


def _sets(text: str, found: re.Match[str]) -> bool:
    """Whether a value follows the name: `=`, `:`, `",` or, after a dash, a word."""
    rest = text[found.end() :].lstrip("\"']) ")
    return rest.startswith(("=", ":", ",")) or text[: found.start()].endswith("--") or found[0].startswith("-")


def _spelled(name: str) -> str:
    return r"(?<![A-Za-z0-9])(?:--)?" + re.escape(name).replace("_", "[-_]") + r"(?![A-Za-z0-9])"


def _files(job: Job) -> list[str]:
    """Returns the files as written, absolute where that is known."""
    waiting = list(dict.fromkeys(_named_in_argv(job)))
    found: list[str] = []
    while waiting and len(found) < MAX_FILES:
        file = waiting.pop(0)
        if file in found or not job.sources.file(file).lines:
            continue
        found.append(file)
        if _language(job, file) == "shell":
            text = job.sources.file(file).text
            waiting.extend(_beside(file, name) for name in NAMED.findall(text) if "$" not in name)
            waiting.extend(name for name in NAMED.findall(text) if "$" not in name)
    seen = {PurePosixPath(shown_path(file, job.facts.cwd)) for file in found}
    python = (file for file in _in_call_paths(job) if PurePosixPath(shown_path(file, job.facts.cwd)) not in seen)
    return [*found, *dict.fromkeys(python)][:MAX_FILES]


def _named_in_argv(job: Job) -> Iterable[str]:
    for word in job.facts.command:
        yield from _candidates(word, job.facts.cwd)
    yield from (str(PurePosixPath(job.facts.cwd or ".") / name) for name in makefiles(job.facts.command))
    for process in job.processes:
        for word in process.argv[:40]:
            yield from _candidates(word, process.cwd or job.facts.cwd)
        yield from (str(PurePosixPath(process.cwd or job.facts.cwd or ".") / name) for name in makefiles(process.argv))


def _candidates(word: str, cwd: str) -> Iterable[str]:
    name = word.partition("=")[2] or word
    if len(name) > 500 or "\n" in name or "/site-packages/" in name or "/lib/python" in name:
        return
    path = PurePosixPath(name)
    is_script = SCRIPT.search(name) or path.suffix == ".py" or (name.startswith(("./", "/")) and not path.suffix)
    if is_script and ("/bin/" not in name or path.suffix):
        yield str(PurePosixPath(cwd or ".") / path)


def _beside(file: str, name: str) -> str:
    return str(PurePosixPath(file).parent / name)


def _in_call_paths(job: Job) -> Iterable[str]:
    for process in job.processes:
        if process.agent is None:
            continue
        for event in process.agent.events:
            for frame in user_frames(event.path, agent_folder=process.agent.agent_folder):
                if "/site-packages/" not in frame.file and frame.file.endswith(".py"):
                    yield frame.file


def _language(job: Job, file: str) -> str:
    suffix = PurePosixPath(file).suffix
    if suffix == ".py":
        return "python"
    if suffix in (".yaml", ".yml", ".json", ".toml", ".cfg", ".ini"):
        return "yaml"
    first = job.sources.file(file).lines[:1]
    return "python" if first and first[0].startswith("#!") and "python" in first[0] else "shell"


def _lines(job: Job, file: str) -> list[ScriptLine]:
    shown, language = shown_path(file, job.facts.cwd), _language(job, file)
    return [
        ScriptLine(location=f"{shown}:{number}", text=line, language=language)
        for number, line in enumerate(job.sources.file(file).lines, 1)
        if line.strip() and not line.lstrip().startswith("#")
    ]
