"""Reads a user's launch line: what is the launcher, and what does it launch.

Launch commands that Python writes as a list of words: ["torchrun", "--master-port=29500", "train.py"].
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath

_LAUNCHERS = frozenset(["torchrun", "torch.distributed.run", "torch.distributed.launch"])
_PORTS = frozenset(["--master-port", "--rdzv-endpoint"])
_HERE = ("localhost", "127.0.0.1", "")

DEFAULT_PORT = "29500"  # torchrun's and accelerate's
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
    return option(launcher, "--nnodes", "--num-machines") or "1"


def port(launcher: Sequence[str]) -> str | None:
    """Returns the port on which this launcher will listen; None where it takes a free one by itself.

    torchrun without any option about it listens on 29500, and so does accelerate; MASTER_PORT in the
    environment is not asked.
    """
    if not launcher or "--standalone" in launcher:
        return None
    named = option(launcher, "--master-port", "--main-process-port")
    if named is not None:
        return named if named != "0" else None
    endpoint = option(launcher, "--rdzv-endpoint")
    if endpoint is None:
        return DEFAULT_PORT
    own = endpoint.rpartition(":")[2] if ":" in endpoint else DEFAULT_PORT
    return own if own != "0" else None


def option(launcher: Sequence[str], *names: str) -> str | None:
    """Returns the value of the first of these options, written with dashes or underscores; None without one."""
    for index, word in enumerate(launcher):
        name, _, value = word.partition("=")
        if name.startswith("--") and f"--{name[2:].replace('_', '-')}" in names:
            return value or (launcher[index + 1] if index + 1 < len(launcher) else None)
    return None


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


def literal_port(node: ast.AST) -> tuple[ast.expr, str] | None:
    """Returns (word, what it says) of the port in a list that starts ranks on this machine, None without one."""
    if not isinstance(node, (ast.List, ast.Tuple)):
        return None
    words = [_text(one) for one in node.elts]
    if _LAUNCHERS.isdisjoint(words) or "--standalone" in words or not _is_here(words):
        return None
    for index, word in enumerate(words):
        name, equals, value = word.partition("=")
        given = value if equals else words[index + 1] if index + 1 < len(words) else ""
        host, _, port = given.rpartition(":")
        if _dashed(name) in _PORTS and port.isdigit() and port != "0" and host in _HERE:
            return node.elts[index], f"{name} is always {port}"
    return None


def _is_here(words: list[str]) -> bool:
    """Whether every option about machines that is written down names this one."""
    for index, word in enumerate(words):
        name, equals, value = word.partition("=")
        given = value if equals else words[index + 1] if index + 1 < len(words) else ""
        allowed = {"--nnodes": ("1",), "--node-rank": ("0",), "--master-addr": _HERE}.get(_dashed(name))
        if allowed is not None and given not in allowed:
            return False
    return True


def _dashed(name: str) -> str:
    return "--" + name[2:].replace("_", "-")


def _text(value: ast.expr) -> str:
    if isinstance(value, ast.Constant) and isinstance(value.value, str):
        return value.value
    if isinstance(value, ast.JoinedStr) and value.values and isinstance(value.values[0], ast.Constant):
        return str(value.values[0].value) + "{}"
    return ""
