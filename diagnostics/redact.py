"""Takes secrets out of what is shown or written: reports are pasted into issues."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from diagnostics.secret_forms import (
    HIDDEN,
    PEM_BEGINS,
    PEM_BODY,
    PEM_ENDS,
    PEM_LINE,
    TRIGGERS,
    is_secret,
    is_secret_variable,
    without_secrets,
)

__all__ = ["HIDDEN", "Stream", "argv", "environment", "json_value", "line", "source", "text", "variable"]

# Variables that say how a distributed job was meant to run; no other one is reported.
TELLING = (
    "NCCL_", "TORCH_", "PYTORCH_", "TORCHELASTIC_", "GLOO_", "CUDA_", "NVIDIA_", "OMP_", "MKL_", "MASTER_", "LOCAL_",
    "SLURM_", "UCX_", "FI_", "UPS_DOCTOR_",
)  # fmt: skip
TELLING_NAMES = ("RANK", "WORLD_SIZE", "GROUP_RANK", "PYTHONPATH", "LD_LIBRARY_PATH", "LD_PRELOAD", "VIRTUAL_ENV")
_BLOCK = 1 << 16  # characters looked through at once for anything that may be a secret
_LONGEST_LINE = 1 << 18  # a stream does not wait longer for the end of a line
_LONGEST_KEY = 400  # lines


def environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Returns the variables that concern distributed training, sorted, secrets hidden."""
    telling = {name: value for name, value in environ.items() if name.startswith(TELLING) or name in TELLING_NAMES}
    return {name: variable(name, value) for name, value in sorted(telling.items())}


def variable(name: str, value: str) -> str:
    """Returns a variable's value, hidden where its name or its form says that it is a secret."""
    return HIDDEN if is_secret_variable(name, value) else text(value)


def text(value: str) -> str:
    """Returns `value` without passwords in URLs, `--token x`, `PASSWORD=x`, headers, keys and known forms of tokens."""
    return _Lines().hide(value)


def source(value: str, *, python: bool) -> str:
    """Returns a source file without secrets and with as many lines; Python still parses: literals alone are hidden."""
    return _Lines(quoted_only=python).hide(value)


def argv(words: Sequence[str]) -> tuple[str, ...]:
    """Returns a command line without secrets, word by word: also `--token` and its value in two words."""
    shown: list[str] = []
    before = ""
    for word in words:
        option = before.startswith("-") and "=" not in before and not word.startswith("-")
        hide = option and (is_secret(before.lstrip("-"), word) or _hides_after(shown, before, word))
        shown.append(HIDDEN if hide else text(word))
        before = word
    return tuple(shown)


def _hides_after(shown: Sequence[str], option: str, word: str) -> bool:
    """Whether a program's short option takes a password: seen as one line, the value disappears."""
    program = shown[0].rpartition("/")[2] if shown else ""
    seen = text(f"{program} {' '.join(shown[1:-1])} {option} {word}") if " " not in word else ""
    return len(option) == 2 and seen.endswith(HIDDEN) and not text(word).endswith(HIDDEN)


def line(value: str) -> str:
    """Returns one line for a terminal or a page: without secrets and without control characters."""
    safe = text(value.replace("\t", "    "))
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in safe)


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
        self._lines = _Lines()
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


class _Lines:
    """Hides line by line; the only thing it remembers is that a private key has begun."""

    def __init__(self, *, quoted_only: bool = False) -> None:
        self._quoted_only = quoted_only
        self._key_lines = 0  # left of a private key that has begun

    def hide(self, value: str) -> str:
        """Returns `value` with the same number of lines."""
        lower = value.lower()
        if not self._key_lines and not any(trigger in lower for trigger in TRIGGERS):
            return value
        lines = value.split("\n")
        start = 0
        while start < len(lines):
            end, size = start, 0
            while end < len(lines) and size <= _BLOCK:
                size += len(lines[end]) + 1
                end += 1
            self._hide_block(lines, start, end)
            start = end
        return "\n".join(lines)

    def _hide_block(self, lines: list[str], start: int, end: int) -> None:
        whole = "\n".join(lines[start:end]).lower()
        present = tuple(trigger for trigger in TRIGGERS if trigger in whole)
        if not present and not self._key_lines:
            return
        for at in range(start, end):
            lower = lines[at].lower()
            if self._key_lines or any(trigger in lower for trigger in present):
                lines[at] = self._hide_line(lines[at])

    def _hide_line(self, value: str) -> str:
        if self._key_lines:
            return self._hide_key_line(value)
        begin = PEM_BEGINS.search(value)
        if begin is None:
            return without_secrets(value, quoted_only=self._quoted_only)
        before, after = value[: begin.end()], value[begin.end() :]
        if PEM_ENDS.search(after) is None and PEM_LINE.match(after):
            self._key_lines = _LONGEST_KEY
        return before + PEM_BODY.sub(HIDDEN, after)

    def _hide_key_line(self, value: str) -> str:
        self._key_lines -= 1
        if (end := PEM_ENDS.search(value)) is not None:
            self._key_lines = 0
            return PEM_BODY.sub(HIDDEN, value[: end.start()]) + value[end.start() :]
        if PEM_LINE.match(value) is None:  # this was no key
            self._key_lines = 0
            return without_secrets(value, quoted_only=self._quoted_only)
        return HIDDEN if value.strip() else value
