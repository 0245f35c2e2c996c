"""Secrets to plant: one of each form, a different one for each place, so that a leak tells where it came from."""

from __future__ import annotations

import base64
import hashlib
import string
from collections.abc import Callable

LETTERS = string.ascii_letters + string.digits
PEM = "-----{} RSA PRIVATE KEY-----"


def _random(place: str, length: int, alphabet: str = LETTERS) -> str:
    """Returns characters that are the same in every run, and look random."""
    digest = b"".join(hashlib.sha256(f"{place} {i}".encode()).digest() for i in range(1 + length // 32))
    return "".join(alphabet[byte % len(alphabet)] for byte in digest[:length])


def _key_body(place: str) -> list[str]:
    text = base64.b64encode(hashlib.sha512(place.encode()).digest() * 2).decode()
    return [text[at : at + 64] for at in range(0, len(text), 64)]


# Each returns the text that holds the secret, and the secret itself (of a key: one of its lines).
FORMS: dict[str, Callable[[str], tuple[str, str]]] = {
    "hugging-face": lambda place: (f"hf_{(s := _random('hf' + place, 34))}", s),
    "aws": lambda place: (f"AWS_SECRET_ACCESS_KEY={(s := _random('aws' + place, 40))}", s),
    "wandb": lambda place: (f"WANDB_API_KEY={(s := _random('wandb' + place, 40, '0123456789abcdef'))}", s),
    "url": lambda place: (f"postgresql://bob:{(s := _random('url' + place, 14))}@db.example.org:5432/runs", s),
    "github": lambda place: (f"ghp_{(s := _random('gh' + place, 36))}", s),
    "bearer": lambda place: (f"Authorization: Bearer {(s := _random('bearer' + place, 40))}", s),
    "jwt": lambda place: (
        f"eyJ{(s := _random('jwt' + place, 30))}.eyJ{_random(place, 40)}.{_random('x' + place, 30)}",
        s,
    ),
    "password": lambda place: (f"password={(s := _random('pw' + place, 16) + '!')}", s),
    "option": lambda place: (f"--api-key {(s := _random('option' + place, 20))}", s),
    "webhook": lambda place: (f"https://hooks.slack.com/services/T0/B0/{(s := _random('slack' + place, 24))}", s),
    "signed": lambda place: (
        f"https://example.org/model.pt?X-Amz-Signature={(s := _random('signed' + place, 64, '0123456789abcdef'))}",
        s,
    ),
    "openai": lambda place: (f"sk-proj-{(s := _random('sk' + place, 40))}", s),
    "private-key": lambda place: (
        "\n".join((PEM.format("BEGIN"), *(body := _key_body(place)), PEM.format("END"))),
        body[1],
    ),
}


def text(form: str, place: str) -> str:
    """Returns a text with a secret of this form in it."""
    return FORMS[form](place)[0]


def secret(form: str, place: str) -> str:
    """Returns the secret alone."""
    return FORMS[form](place)[1]


def all_of(place: str) -> dict[str, str]:
    """Returns a text of every form."""
    return {form: text(form, place) for form in FORMS}


def found(data: bytes, places: tuple[str, ...]) -> set[str]:
    """Returns "form at place" of each secret that `data` holds, whole or the half of it."""
    return {
        f"{form} at {place}"
        for place in places
        for form in FORMS
        for part in _halves(secret(form, place))
        if part in data
    }


def _halves(value: str) -> tuple[bytes, bytes]:
    return value[: len(value) // 2].encode(), value[-(len(value) // 2) :].encode()
