"""Takes secrets out of what is shown or written: reports are pasted into issues."""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping, Sequence
from typing import Any

from diagnostics.agent.shared.redaction import without_values
from diagnostics.agent.shared.secret_lines import Lines, hidden, hidden_words, is_secret_variable
from diagnostics.agent.shared.trigger_words import HIDDEN
from diagnostics.core.console import printable_line
from diagnostics.core.python_redaction import without_literals

__all__ = [
    "HIDDEN",
    "Stream",
    "argv",
    "environment",
    "json_value",
    "line",
    "source",
    "source_lines",
    "text",
    "variable",
]

# Variables that say how a distributed job was meant to run; no other one is reported.
TELLING = (
    "NCCL_", "TORCH_", "PYTORCH_", "TORCHELASTIC_", "GLOO_", "CUDA_", "NVIDIA_", "OMP_", "MKL_", "MASTER_", "LOCAL_",
    "SLURM_", "UCX_", "FI_", "UPS_DOCTOR_",
)  # fmt: skip
TELLING_NAMES = ("RANK", "WORLD_SIZE", "GROUP_RANK", "PYTHONPATH", "LD_LIBRARY_PATH", "LD_PRELOAD", "VIRTUAL_ENV")
_LONGEST_LINE = 1 << 18  # a stream does not wait longer for the end of a line


def environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Returns the variables that concern distributed training, sorted, secrets hidden."""
    telling = {name: value for name, value in environ.items() if name.startswith(TELLING) or name in TELLING_NAMES}
    return {name: variable(name, value) for name, value in sorted(telling.items())}


def variable(name: str, value: str) -> str:
    """Returns a variable's value, hidden where its name or its form says that it is a secret."""
    return HIDDEN if is_secret_variable(name, value) else text(value)


def text(value: str) -> str:
    """Returns `value` without passwords in URLs, `--token x`, `PASSWORD=x`, headers, keys and known forms of tokens."""
    return hidden(_without_own(value))


def source(value: str, *, python: bool) -> str:
    """Returns a source file without secrets and with as many lines; Python still parses: literals alone are hidden."""
    whole = without_literals(value) if python else value
    return Lines(quoted_only=python).hide(_without_own(whole))


@functools.lru_cache(maxsize=16)
def source_lines(value: str, *, python: bool) -> tuple[str, ...]:
    """Returns the lines of a source file without secrets: a line may hold a secret whose name stands on another."""
    return tuple(source(value, python=python).split("\n"))


def argv(words: Sequence[str]) -> tuple[str, ...]:
    """Returns a command line without secrets, word by word: also `--token` and its value in two words."""
    return tuple(hidden_words([_without_own(word) for word in words]))


def _without_own(value: str) -> str:
    """Takes out what the doctor's own variables, and so the job's, hold in secret; wherever it stands."""
    return without_values(value, _own_secrets())


@functools.cache
def _own_secrets() -> tuple[tuple[str, str], ...]:
    return tuple((name, value) for name, value in os.environ.items() if is_secret_variable(name, value))


def line(value: str) -> str:
    """Returns one line for a terminal or a page: without secrets and without control characters."""
    return printable_line(text(value.replace("\t", "    ")))


def json_value(value: Any) -> Any:
    """Returns plain JSON with every text in it redacted, and what stands below a secret's name hidden."""
    if isinstance(value, dict):
        return {key: _item(str(key), item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [json_value(item) for item in value]
    return text(value) if isinstance(value, str) else value


def _item(key: str, value: Any) -> Any:
    return variable(key, value) if isinstance(value, str) else json_value(value)


class Stream:
    """Takes secrets out of output as it comes; holds back the last line until it is whole.

    Bytes that are no text pass unchanged.
    """

    def __init__(self) -> None:
        self._lines = Lines()
        self._held = ""

    def feed(self, data: bytes) -> bytes:
        """Returns what of the output so far may be kept."""
        self._held += data.decode("latin-1")
        end = self._held.rfind("\n") + 1
        if not end and len(self._held) > _LONGEST_LINE:
            end = len(self._held)
        whole, self._held = self._held[:end], self._held[end:]
        return self._lines.hide(whole).encode("latin-1", "replace") if whole else b""

    def flush(self) -> bytes:
        """Returns the rest, after the end of the output."""
        rest, self._held = self._held, ""
        return self._lines.hide(rest).encode("latin-1", "replace")
