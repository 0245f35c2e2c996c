"""Takes secrets out of texts before they are written: a record is passed on to others.

The forms of secrets cost a process 10 ms to load, so a look for words that come with them goes first. A process with
torch loads them with it, while it can still open files.
"""

from __future__ import annotations

import os

from .trigger_words import HIDDEN, TRIGGERS

TYPE_CHECKING = False  # as of typing, which a job need not import
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from types import ModuleType

_MIN_LENGTH = 8  # a shorter value would be found in innocent words
# Words of the trade with a trigger in them.
_TRADE = ("tokeniz", "tokenis", "tokens", "keyword", "keyboard", "keyerror", "pin_memory", "passed", "passes")
_ENDS = ("=", ":", " ", "'", '"', "(", "\x1f")  # behind a name that is short enough to stand in other words
_ONLY_WITH = {
    "://": ("@", "hooks.", "webhooks", "?", "&"), "basic": ("basic ",),
    "pass": ("passw", "passphrase", "passcode", *(f"pass{end}" for end in _ENDS)),
    **{word: tuple(f"{word}{end}" for end in _ENDS) for word in ("pin", "pw", "pwd", "psw", "otp", "dsn", "jwt")},
    "auth": (*(f"auth{end}" for end in _ENDS), "authoriz", "authenticat"),
    " -a": ("redis", "http"), " -u": (":",), "-u": (":",), "--user": (":",), " -w": ("ldap",),
    "-p": (" -p", "'-p", '"-p'),
    "connection": ("connection_string", "connectionstring", "connection string"),
    "login": ("login ", "login("), "sudo": ("|", "<<<"), "stdin": ("|", "<<<"),
}  # fmt: skip
_NAMES = (
    "token", "secret", "pass", "pwd", "pw", "key", "cred", "connection", "pin", "auth", "jwt", "pat", "sas", "dsn",
    "otp", "login", "webhook", "mnemonic", "psw",
)  # fmt: skip
_FOLDERS = ("PWD", "OLDPWD")  # where the shell is: part of many a path on a command line
_ABOUT = ("_FILE", "_PATH", "_DIR", "_HOME", "_SOCK", "_NAME", "_ID", "_ENDPOINT", "_TYPE", "_HELPER")


def hide(text: str) -> str:
    """Returns `text` without passwords in URLs, values of secret variables, keys, and known forms of tokens."""
    text = without_values(text, os.environ.items())
    if not _may_hold_secrets(text):
        return text
    forms = load()
    return str(forms.hidden(text)) if forms is not None else HIDDEN


def hide_words(words: Sequence[str]) -> Sequence[str]:
    """Returns a command line without secrets, as many words."""
    variables = list(os.environ.items())
    words = [without_values(word, variables) for word in words]
    if not _may_hold_secrets(" ".join(words)):
        return words
    forms = load()
    return list(forms.hidden_words(words)) if forms is not None else [HIDDEN] * len(words)


def is_secret(name: str, value: str) -> bool:
    """Whether a variable of this name and value holds a secret; `tokens` are words of the trade."""
    lower = name.lower()
    if name in _FOLDERS or not any(word in lower for word in _NAMES):
        return False
    forms = load()
    return forms is None or bool(forms.is_secret_variable(name, value))


def load() -> ModuleType | None:
    """Returns the module with the forms, None where it cannot be read: no descriptor is left, the folder is gone."""
    try:
        from . import secret_lines
    except Exception:
        return None
    return secret_lines


def without_values(text: str, variables: Iterable[tuple[str, str]]) -> str:
    """Returns `text` without the values of those variables that hold secrets, wherever they stand in it."""
    for name, value in variables:
        if len(value) >= _MIN_LENGTH and value in text and not name.endswith(_ABOUT) and is_secret(name, value):
            text = text.replace(value, HIDDEN)
    return text


def _may_hold_secrets(text: str) -> bool:
    lower = text.lower()
    for word in _TRADE:
        lower = lower.replace(word, "")
    for trigger in TRIGGERS:
        if trigger in lower:
            needed = _ONLY_WITH.get(trigger)
            if needed is None or any(word in lower for word in needed):
                return True
    return False
