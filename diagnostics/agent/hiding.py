"""Takes secrets out of texts before they are written: a record is passed on to others."""

from __future__ import annotations

import os

HIDDEN = "[redacted]"
_WORDS = ("secret", "passw", "passphrase", "credential", "apikey", "api_key", "api-key", "access_key", "private_key")
_MIN_LENGTH = 8  # a shorter value would be found in innocent words


def is_secret(name):
    """Whether a variable, option or key of this name holds a secret; `tokens` are words of the trade."""
    name = name.lower()
    if any(word in name for word in _WORDS) or name.endswith("_key"):
        return True
    return any(not rest.startswith(("s", "iz", "is")) for rest in name.split("token")[1:])


def hide(text):
    """Returns `text` without passwords in URLs, values of secret variables, and what `TOKEN=` or `--token` precede."""
    for name, value in os.environ.items():
        if len(value) >= _MIN_LENGTH and value in text and is_secret(name):
            text = text.replace(value, HIDDEN)
    if "://" in text and "@" in text:
        text = " ".join(_without_password(word) for word in text.split(" "))
    if "=" in text or "--" in text or ": " in text:
        text = " ".join(_words(text.split(" ")))
    return text


def _without_password(word):
    scheme, mark, rest = word.partition("://")
    user, at, host = rest.partition("@")
    return scheme + mark + HIDDEN + at + host if mark and at and "/" not in user else word


def _words(words):
    hidden_next = False
    for word in words:
        name, mark, value = word.partition("=")
        if hidden_next and not word.startswith(("-", HIDDEN)):
            yield HIDDEN
        elif mark and value and is_secret(name):
            yield name + mark + HIDDEN
        else:
            yield word
        hidden_next = not mark and (word.startswith("--") or word.endswith(":")) and is_secret(word.rstrip(":'\""))
