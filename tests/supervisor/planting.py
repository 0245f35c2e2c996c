"""More than 300 forms in which a secret is written: planted_forms/LANGUAGE.txt has one a line.

Marks: `{pw}` a password that a person made up, `{word}` one of small letters alone, `{digits}` eight digits,
`{hex32}`, `{hex40}`, `{hex64}`, `{mixed16}` ... letters and digits that look random, `{base40}` also `+` and `/`,
`{uuid}`, `{pem}` a key's body, `{jwt}`; `⏎` is the end of a line. A secret of several marks is planted as several.
"""

from __future__ import annotations

import base64
import hashlib
import re
import string
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

LANGUAGES = {path.stem: path.read_text() for path in sorted((Path(__file__).parent / "planted_forms").glob("*.txt"))}

_MARK = re.compile(r"\{(pw|word|digits|uuid|pem|jwt|(?:mixed|hex|base|upper)\d+)\}")
_ALPHABETS = {
    "mixed": string.ascii_letters + string.digits,
    "hex": "0123456789abcdef",
    "base": string.ascii_letters + string.digits + "+/",
    "upper": string.ascii_uppercase + string.digits,
}
_SYLLABLES = ("ba", "ce", "di", "fo", "gu", "ka", "le", "mi", "no", "pu", "ra", "se", "ti", "vo", "zu", "shi")


class Planted(NamedTuple):
    """A text with secrets in it, whose values no other text has."""

    language: str
    form: str
    text: str
    secrets: tuple[str, ...]


def plant(language: str, form: str, seed: str) -> Planted:
    """Returns the form filled with secrets of its own, the same in every run."""
    secrets: list[str] = []

    def fill(match: re.Match[str]) -> str:
        value = _value(match[1], f"{seed} {form} {len(secrets)}")
        secrets.extend(value.split("\\n") if match[1] == "pem" else [value])
        return value

    filled = _MARK.sub(fill, form)
    text = filled.replace("{{", "{").replace("}}", "}").replace("⏎", "\n")
    return Planted(language, form, text, tuple(secrets))


def everything(seed: str = "first") -> Iterator[Planted]:
    """Yields every form once."""
    for language, forms in LANGUAGES.items():
        for form in forms.splitlines():
            yield plant(language, form, seed)


def _value(kind: str, seed: str) -> str:
    name, length = kind.rstrip("0123456789"), int(kind.lstrip("abcdefghijklmnopqrstuvwxyz") or 0)
    numbers = b"".join(hashlib.sha256(f"{seed} {i}".encode()).digest() for i in range(8))
    if name in _ALPHABETS:
        return "".join(_ALPHABETS[name][n % len(_ALPHABETS[name])] for n in numbers[:length])
    word = "".join(_SYLLABLES[n % 16] for n in numbers[:5])
    match name:
        case "word":
            return word
        case "pw":
            return f"{word.capitalize()}{numbers[9]}!{_SYLLABLES[numbers[10] % 16]}"
        case "digits":
            return "".join(str(n % 10) for n in numbers[:8])
        case "uuid":
            return str(uuid.UUID(bytes=numbers[:16]))
        case "pem":
            body = base64.b64encode(numbers[:192]).decode()
            return "\\n".join(body[at : at + 64] for at in range(0, len(body), 64))
    return f"eyJ{base64.b64encode(numbers[:24]).decode()}.eyJ{_value('mixed60', seed)}.{_value('mixed43', seed + 'x')}"
