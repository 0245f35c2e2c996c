"""Reads a user's launch line: what is the launcher, and what does it launch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath

# torchrun's options without a value, in the spelling with dashes.
SWITCHES = {"--standalone", "--module", "-m", "--no-python", "--run-path"}
# They say how the program is to be read, and do not fit a program of ours in its place.
ABOUT_THE_PROGRAM = {"--module", "-m", "--no-python", "--run-path"}


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchLine:
    """A launcher with its options, and the program with its arguments; `launcher` is () for a plain script."""

    launcher: tuple[str, ...]
    program: tuple[str, ...]


def read_launch_line(words: Sequence[str]) -> LaunchLine:
    """Returns the two halves of a launch line; torchrun, torch.distributed.run and accelerate are known."""
    start = _launcher_words(words)
    if start == 0:
        return LaunchLine(launcher=(), program=tuple(words))
    accelerate = PurePath(words[0]).name == "accelerate" or "accelerate.commands.launch" in words[:start]
    end = _first_script(words, start) if accelerate else _first_argument(words, start)
    options = [word for word in words[start:end] if word.replace("_", "-") not in ABOUT_THE_PROGRAM]
    return LaunchLine(launcher=(*words[:start], *options), program=tuple(words[end:]))


def nodes(launcher: Sequence[str]) -> str:
    """Returns the value of --nnodes, "1" where there is none."""
    for index, word in enumerate(launcher):
        name, _, value = word.partition("=")
        if name in ("--nnodes", "--num_machines", "--num-machines"):
            return value or (launcher[index + 1] if index + 1 < len(launcher) else "1")
    return "1"


def _launcher_words(words: Sequence[str]) -> int:
    """Returns how many words name the launcher, 0 where there is none."""
    name = PurePath(words[0]).name if words else ""
    if name == "torchrun":
        return 1
    if (name == "accelerate" and words[1:2] == ["launch"]) or list(words[:2]) == ["accelerate", "launch"]:
        return 2
    modules = ("torch.distributed.run", "torch.distributed.launch", "accelerate.commands.launch")
    if name.startswith("python") and len(words) > 2 and words[1] == "-m" and words[2] in modules:
        return 3
    return 0


def _first_argument(words: Sequence[str], start: int) -> int:
    index = start
    while index < len(words) and words[index].startswith("-"):
        spelled = words[index].replace("_", "-")
        index += 1 if "=" in spelled or spelled in SWITCHES else 2
    return min(index, len(words))


def _first_script(words: Sequence[str], start: int) -> int:
    """Accelerate has too many switches for a table: the first Python file is the program."""
    found = (index for index in range(start, len(words)) if words[index].endswith(".py"))
    return next(found, len(words))
