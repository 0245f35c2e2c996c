"""The Python file of the project that a launch script starts, and whether a command trains. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePath
from weakref import WeakKeyDictionary

from diagnostics.static.launch_files.embedded_scripts import embedded_scripts
from diagnostics.static.launch_files.launcher_commands import STARTS_RANKS, Launch, base, launcher_calls
from diagnostics.static.launch_files.shell_commands import CommandContext
from diagnostics.static.program.project import Project, per_project
from diagnostics.static.program.project_file import FileKind, ProjectFile

_NAMED = re.compile(
    r"(?:^|[_\-./])(?:pre|post)?-?train(?:er|ing)?(?:$|[_\-.\d])"
    r"|(?:^|[_\-./])(?:fine[_-]?tun\w*|sft|dpo|grpo|ppo|fit)(?:$|[_\-.])",
    re.IGNORECASE,
)
_OTHER = re.compile(
    r"prep|split|token|bpe|spm|download|convert|eval|export|plot|analy[sz]|test|score|infer|predict|generat|decode"
    r"|visuali|benchmark|summar|extract|install|data",
    re.IGNORECASE,
)
_TRAINS = frozenset(["backward", "DistributedDataParallel", "FullyShardedDataParallel", "fully_shard"])
_SERVES = re.compile(r"serve|server|infer|predict|demo", re.IGNORECASE)
_TRAINERS = frozenset(["Trainer", "Accelerator", "LightningModule", "SFTTrainer"])
# Commands of libraries that train, with the word that says so where others do something else.
_COMMANDS = {"fairseq-train": "", "fairseq-hydra-train": "", "nemo-train": "", "axolotl": "train", "composer": ""}
MOST_MODULES = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Training:
    """A command that trains: its layers, how to name it, and the project's file that it runs."""

    layers: tuple[Launch, ...]
    shown: str
    program: ProjectFile | None

    @property
    def launcher(self) -> Launch | None:
        """The innermost launcher of ranks, None for plain Python."""
        return next((one for one in reversed(self.layers) if one.kind in STARTS_RANKS or one.kind == "launch"), None)


def training(ran: CommandContext, file: ProjectFile, project: Project) -> Training | None:
    """Returns what a command trains, None where nothing says that it does."""
    layers = launcher_calls(ran.words)
    if not layers:
        named = base(ran.words[0]) if ran.words else ""
        made = named == "make" and any(_is_training_name(word) for word in ran.words[1:])
        made = made or (named in _COMMANDS and _COMMANDS[named] in ("", *ran.words[1:2]))
        return Training(layers=(), shown=" ".join(ran.words[:2]), program=None) if made else None
    last = layers[-1]
    program = script_file(last, file, project)
    if not _trains(layers, program, project):
        return None
    script = last.script or (base(last.program[0]) if last.program else "")
    kind = "python -m torch.distributed.launch" if last.kind == "launch" else base(ran.words[last.at])
    outer = f"{layers[-2].kind} " if len(layers) > 1 and last.kind == "python" else ""
    return Training(layers=layers, shown=f"{outer}{kind} {script}".strip(), program=program)


def script_file(launch: Launch, file: ProjectFile, project: Project) -> ProjectFile | None:
    """Returns the audited Python file that a launch runs, None where the project has none of that name."""
    script = launch.script
    if not script or "$" in script:
        script = re.sub(r"^(?:\$\{?\w+\}?|\$\(.*\))/", "", script)  # $ROOT/train.py
        if not script or "$" in script:
            return None
    if launch.is_module:
        stem = script.replace(".", "/")
        names: tuple[str, ...] = (f"{stem}/__main__.py", f"{stem}.py")
    else:
        names = (script,)
    return next((found for name in names if (found := _at(name, file, project)) is not None), None)


@per_project
def started_as_ranks(project: Project) -> frozenset[str]:
    """Returns the Python files that a launch script starts in several processes: by srun, torchrun and the like."""
    found = set()
    for file in project.audited:
        for script in embedded_scripts(file):
            for ran in script.commands:
                layers = launcher_calls(ran.words)
                several = any(one.kind in STARTS_RANKS or one.kind == "launch" for one in layers)
                program = script_file(layers[-1], file, project) if several else None
                found |= {program.shown} if program is not None else set()
    return frozenset(found)


def _at(name: str, file: ProjectFile, project: Project) -> ProjectFile | None:
    parts = [part for part in PurePath(name).parts if part not in (".", "/")]
    while parts and parts[0] == "..":
        parts.pop(0)
    if not parts:
        return None
    folder = PurePath(file.shown).parent
    for root in (folder, *folder.parents):
        found = project.by_path.get(str(root.joinpath(*parts)))
        if found is not None and found.kind is FileKind.PYTHON:
            return found
    tail = "/" + "/".join(parts)
    fits = [one for one in project.python if one.shown.endswith(tail)]
    return fits[0] if len(fits) == 1 else None


_WHAT: WeakKeyDictionary[ProjectFile, bool] = WeakKeyDictionary()


def is_training_file(program: ProjectFile, project: Project) -> bool:
    """Returns whether a program trains with PyTorch: itself, or the project's modules that it imports."""
    if program not in _WHAT:
        waiting, seen = [program.shown], {program.shown}
        found = False
        while waiting and len(seen) < MOST_MODULES and not found:
            one = project.by_path[waiting.pop(0)]
            torch = not one.words.isdisjoint(["torch", "accelerate", "lightning", "transformers", "deepspeed"])
            found = torch and not (one.words.isdisjoint(_TRAINS) and one.words.isdisjoint(_TRAINERS))
            for name in project.bound(one.shown).values():
                for module in (name, name.rpartition(".")[0]):
                    there = project.file_of_module.get(module, "")
                    if there and there not in seen:
                        seen.add(there)
                        waiting.append(there)
        _WHAT[program] = found
    return _WHAT[program]


def _trains(layers: tuple[Launch, ...], program: ProjectFile | None, project: Project) -> bool:
    last = layers[-1]
    if last.kind == "python" and not last.script:
        return False  # python -c "...", or a here-document
    if program is not None and is_training_file(program, project) and not _SERVES.search(base(last.script)):
        return True
    inside = any(one.kind in ("torchrun", "launch", "accelerate", "deepspeed", "horovodrun") for one in layers)
    if inside:
        return bool(last.program)
    return _is_training_name(last.script) and (program is None or not _OTHER.search(base(last.script)))


def _is_training_name(script: str) -> bool:
    name = base(script)
    return bool(_NAMED.search(name)) and _OTHER.search(name) is None
