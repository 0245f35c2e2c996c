"""Takes secrets out of what is shown or written: reports are pasted into issues."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

HIDDEN = "[redacted]"
# Variables that say how a distributed job was meant to run; no other one is reported.
TELLING = (
    "NCCL_", "TORCH_", "PYTORCH_", "TORCHELASTIC_", "GLOO_", "CUDA_", "NVIDIA_", "OMP_", "MKL_", "MASTER_", "LOCAL_",
    "SLURM_", "UCX_", "FI_", "UPS_DOCTOR_",
)  # fmt: skip
TELLING_NAMES = ("RANK", "WORLD_SIZE", "GROUP_RANK", "PYTHONPATH", "LD_LIBRARY_PATH", "LD_PRELOAD", "VIRTUAL_ENV")

# `tokens` and `tokenizer` are words of the trade, not secrets.
_WORDS = r"token(?!s|i[sz])|secret|passw(?:or)?d|passphrase|credential|(?:api|access|private|auth)[_-]?key"
_NAME = rf"[A-Za-z0-9_.-]*(?:{_WORDS})[A-Za-z0-9_.-]*"
_SECRET_NAME = re.compile(rf"(?i){_WORDS}|_key$|^key$")
_VALUE = r"""(?P<value>"[^"]*"|'[^']*'|[^\s'",;&]+)"""
_ASSIGNED = re.compile(rf"(?i)(?P<name>{_NAME})(?P<between>['\"]?\s*[=:]\s*){_VALUE}")
_OPTION = re.compile(rf"(?i)(?P<name>--{_NAME})(?P<between> )(?P<value>[^\s-][^\s]*)")
_URL = re.compile(r"(?P<scheme>\b[a-z][a-z0-9+.-]*://)[^\s/@]+@", re.IGNORECASE)
_BEARER = re.compile(r"(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{12,}")
_KNOWN_FORMS = re.compile(
    r"\b(?:hf_[A-Za-z0-9]{16,}|gh[pousr]_[A-Za-z0-9]{20,}|sk-[A-Za-z0-9_-]{20,}|AKIA[0-9A-Z]{16})\b"
)


def environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Returns the variables that concern distributed training, sorted, secrets hidden."""
    telling = {name: value for name, value in environ.items() if name.startswith(TELLING) or name in TELLING_NAMES}
    return {name: variable(name, value) for name, value in sorted(telling.items())}


def variable(name: str, value: str) -> str:
    """Returns a variable's value, hidden where its name or its form says that it is a secret."""
    return HIDDEN if _SECRET_NAME.search(name) else text(value)


def text(value: str) -> str:
    """Returns `value` without passwords in URLs, `--token x`, `PASSWORD=x`, bearer headers and known key forms."""
    value = _URL.sub(rf"\g<scheme>{HIDDEN}@", value)
    value = _BEARER.sub(rf"\1 {HIDDEN}", value)
    for form in (_ASSIGNED, _OPTION):
        value = form.sub(rf"\g<name>\g<between>{HIDDEN}", value)
    return _KNOWN_FORMS.sub(HIDDEN, value)


def line(value: str) -> str:
    """Returns one line for a terminal or a page: without secrets and without control characters."""
    safe = text(value.replace("\t", "    "))
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in safe)


def json_value(value: Any) -> Any:
    """Returns plain JSON with every text in it redacted, and what stands below a secret's name hidden."""
    if isinstance(value, dict):
        return {key: _item(key, item) for key, item in value.items()}
    if isinstance(value, list):
        return [json_value(item) for item in value]
    return text(value) if isinstance(value, str) else value


def _item(key: str, value: Any) -> Any:
    return variable(key, value) if isinstance(value, str) else json_value(value)
