"""Takes secrets out of a pickle: their characters become stars, so that its framing stays as it is."""

from __future__ import annotations

import pickletools

from ..shared.redaction import hide, is_secret

_HEADS = {"SHORT_BINUNICODE": 2, "BINUNICODE": 5, "BINUNICODE8": 9}  # opcode and length before the characters
_STORES = ("MEMOIZE", "BINPUT", "LONG_BINPUT")
_FETCHES = ("BINGET", "LONG_BINGET")


def without_secrets(data):
    """Returns a pickle as long as `data`, without strings that are secrets or stand below a secret's name."""
    strings, secrets = _strings(data)
    if not secrets:
        return data
    hidden = bytearray(data)
    for text, start, size in strings:
        if text in secrets:
            hidden[start : start + size] = b"*" * size
    return bytes(hidden)


def _strings(data):
    """Returns (text, place, bytes) of each string, and the texts to hide."""
    strings, secrets, memo, before, last = [], set(), [], None, None
    for opcode, argument, position in pickletools.genops(data):
        if opcode.name in _HEADS:
            size = len(argument.encode("utf-8", "surrogatepass"))
            strings.append((argument, position + _HEADS[opcode.name], size))
            text = argument
        elif opcode.name in _FETCHES:
            text = memo[argument] if argument < len(memo) else None
        elif opcode.name in _STORES:
            memo.append(last)
            continue
        else:
            text = None
        if text is not None and _is_secret(before, text):
            secrets.add(text)
        before = last = text
    return strings, secrets


def _is_secret(name, text):
    """Whether this is a secret by its form, or by the name before it."""
    if not text:
        return False
    return (name is not None and len(name) < 100 and is_secret(name, text)) or hide(text) != text
