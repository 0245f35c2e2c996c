"""Whether a value under the name of a secret is one: no number, reference, code or word of a sentence."""

from __future__ import annotations

import re

from .secret_names import KEYED, NONE, PIN, SURE, is_name, pieces, strength
from .trigger_words import HIDDEN

_LEAST_DIGITS = 4  # fewer count something
_LONGEST = 512  # characters of a value that are looked at
_NOTHING = frozenset((
    "", "none", "null", "nil", "true", "false", "yes", "no", "on", "off", "nan", "str", "int", "string", "bool",
    "bytes", "boolean", "number", "object", "any", "optional", "required", "integer", "text", "array", "list",
    "dict", "\\", "|", ">", "|-", ">-", "&", "&&", "<", "<<", "<<<", "!", "-", "--", "=", "(", ")", "[", "]", "{",
    "}", "+", "*", "/", ":", ",", ".", "...", "\u2026", "n/a", "unset", "default", "empty", HIDDEN,
))  # fmt: skip
_NUMBER = re.compile(r"[-+]?[\d.,_]{1,20}(?:e[-+]?\d{1,3})?[%)\]}:s]?$", re.IGNORECASE)
_SPECIAL = re.compile(r"(?:<[^>]{0,80}>|\[[A-Z_]{1,20}\]|\|.{0,80}\||</?s>|[\u2581\u0120\u010a].{0,40}|##\w{1,40})$")
_REFERENCE = re.compile(
    r"(?:\$\{?[A-Za-z_]\w{0,80}\}?|\$\d|\$\(.*|`.*|%\(.*|%[A-Za-z_]+%|%[sdr]"
    r"|\{[\w.\[\]!:'\"]{0,80}\}|\{\{.*|\$\{.*\}|\$\$.*"
    r"|<[^<>]{1,80}>|vault:.*|arn:.*|env[:.].*|file:.*|os\.environ.*|%\{.*)$"
)
_PATH = re.compile(
    r"(?:~|\.{1,2})?/[\w.@+-]{1,80}(?:/[\w.@+-]{0,80}){0,20}$|[\w./-]{1,120}\.(?:py|ya?ml|json|sh|txt|pem"
    r"|pub|env|cfg|toml|ini)$"
)
_WORDY = re.compile(r"[A-Za-z]{1,40}\d{0,4}|\d{1,10}")
_APART = re.compile(r"[_\-./+=:~ ]+")
_GENERATED = re.compile(r"[A-Za-z0-9+/=_.~-]{16,512}$")
_CALLED = re.compile(r"[A-Za-z_][\w.]{0,80}[(\[]")
_CONSTANT = re.compile(r"(?:[A-Z]{2,20}(?:_[A-Z]{1,20}){1,6}|[a-z]{2,20}(?:_[a-z]{1,20}){1,6})$")  # a name in code
_CODE = re.compile(r"[a-z_.]{1,80}[(\[]")
_FORMAT = re.compile(r"%[-\d.]{0,6}[sdrifx]|\{[^{}]{0,40}\}")
_LETTERS = re.compile(r"[A-Za-z]+$")
_STOP = frozenset((
    "a", "about", "again", "all", "already", "also", "always", "an", "and", "any", "are", "argument", "as", "at",
    "authentication", "available", "bad", "based", "because", "been", "before", "but", "by", "can", "cannot",
    "case", "common", "correct", "currently", "did", "different", "do", "does", "either", "exactly", "expected",
    "fails", "failed", "field", "fine", "for", "from", "given", "good", "had", "has", "have", "here", "how", "if",
    "ignored", "in", "incorrect", "inside", "into", "invalid", "is", "it", "its", "just", "kept", "like", "longer",
    "login", "management", "manager", "may", "missing", "must", "needed", "needs", "never", "not", "now", "of",
    "ok", "one", "only", "or", "our", "out", "outside", "plus", "protected", "prompt", "read", "safe", "same",
    "sent", "set", "shorter", "should", "so", "still", "stored", "than", "that", "the", "their", "then", "there",
    "this", "to", "too", "under", "unknown", "until", "up", "used", "using", "valid", "value", "via", "visible",
    "was", "we", "weak", "when", "where", "which", "while", "who", "my", "mine", "shown", "built", "lost", "no",
    "yes", "be", "being", "more", "less", "longer", "between", "why", "will", "with", "without", "wrong", "you",
    "your", "zero", "see", "at", "file", "files", "permission", "raise", "return", "yield", "await", "lambda",
    "import", "print", "else", "uses", "use", "comes", "come", "checks", "change", "changes", "reset", "recovery",
    "policy", "strength", "found", "denied", "error", "errors", "per", "rotation",
))  # fmt: skip
_ENDINGS = ("ed", "en", "ing", "able", "ible", "ly", "tion", "n't")


def is_secret_value(
    name: str, value: str, *, quoted: bool = True, rest: str = "", before: str = "", sure: int = NONE
) -> bool:
    """Whether `value`, standing under `name`, has to be hidden; `rest` is what follows a bare value on its line."""
    says = max(sure, strength(name, before))
    plain = value[:_LONGEST].strip().strip("\"'\\")
    if says == NONE or is_nothing(plain) or (not quoted and is_expression(name, plain, rest)):
        return False
    if says == PIN:
        return (plain.isdigit() and 4 <= len(plain) <= 12) or like_password(plain)
    if is_path(plain) or is_name(plain) or is_sentence(plain):
        return False
    if says == SURE:
        return not (plain.isdigit() and len(plain) < _LEAST_DIGITS)
    if says == KEYED:
        return not (
            (_NUMBER.match(plain) and len(plain) < _LEAST_DIGITS) or _SPECIAL.match(plain) or _CONSTANT.match(plain)
        )
    # Under a plain `key` may stand a name, a hash, a format; a password has one of its own.
    return is_generated(plain) or (name.lower() != "key" and like_password(plain.rpartition(":")[2]))


def is_nothing(plain: str) -> bool:
    """Whether a text stands for no value or for one that is kept elsewhere."""
    lower = plain.lower()
    return (
        lower in _NOTHING
        or plain.startswith(HIDDEN)
        or bool(_REFERENCE.match(plain))
        or (len(lower) > 2 and lower == lower[0] * len(lower))
    )


def is_path(plain: str) -> bool:
    """Whether a text is a file's place; the characters of base64 make one only by chance."""
    return bool(_PATH.match(plain)) and not is_generated(plain)


def is_sentence(plain: str) -> bool:
    """Whether a text speaks to people: a prompt, a help text, a message."""
    words = plain.split()
    return len(words) > 1 and (
        len(words) > 7 or plain[-1] in ".:?!" or any(len(word) > 1 and word.lower() in _STOP for word in words)
    )


def is_said(plain: str) -> bool:
    """Whether a word behind an option belongs to a sentence about it: "--password is deprecated"."""
    return plain.lower() in _STOP


def is_word(plain: str) -> bool:
    """Whether a word goes on with a sentence: "password is required"."""
    lower = plain.lower().strip(".,;:!?)('\"`")
    return lower in _STOP or (bool(_LETTERS.match(lower)) and lower.endswith(_ENDINGS)) or lower in _NOTHING


def is_expression(name: str, plain: str, rest: str) -> bool:
    """Whether a bare value is code that fetches the secret: get_password(user), batch["token"], args.token."""
    if (
        is_word(plain)
        or plain.startswith(("self.", "cls.", "args.", "cfg.", "config."))
        or (plain[:1] == "<" and ">" in rest)
        or (plain[:2] == "${" and "}" in rest)
    ):
        return True
    called = _CALLED.match(plain)
    if called:
        close = ")" if called[0][-1] == "(" else "]"
        return close in plain or close in rest or not rest.strip() or bool(_CODE.match(plain))
    if plain.replace("_", "").replace(".", "").isalpha() and pieces(plain)[-1:] == pieces(name)[-1:]:
        return pieces(plain) != [plain]  # credentials=grpc.ChannelCredentials, password=user_password
    return is_name(plain) or (plain.isidentifier() and plain.lower() == name.strip("-").rpartition(".")[2].lower())


def is_generated(plain: str) -> bool:
    """Whether a text looks random: letters and digits mixed, longer than a word, no words with underscores between."""
    if len(plain) < 16 or len(set(plain)) < 8 or not _GENERATED.match(plain):
        return False
    if not any(map(str.isdigit, plain)) or sum(map(str.isalpha, plain)) < 3:
        return False
    parts = [part for part in _APART.split(plain) if part and not _WORDY.fullmatch(part)]
    return sum(map(len, parts)) >= 8


def like_password(plain: str) -> bool:
    """Whether a text looks made up by a person to be hard to guess: letters with digits and signs, in both cases."""
    if not 8 <= len(plain) <= 128 or plain[0] in "-/<({[$" or "://" in plain or _FORMAT.search(plain):
        return False
    letters, digits = any(map(str.isalpha, plain)), any(map(str.isdigit, plain))
    signs = any(sign in plain for sign in "!@#$%^&*?~")
    cases = plain != plain.lower() and plain != plain.upper()
    if any(map(str.isspace, plain)) or any(sign in plain for sign in "()[]{}<>=,'\"\\|"):
        return False
    return letters and (
        (digits and (signs or (cases and plain.isalnum() and not _WORDY.fullmatch(plain)))) or (signs and cases)
    )


def is_mixed(plain: str) -> bool:
    """Whether letters and digits stand together in a text without spaces: enough right behind the word password."""
    return (
        6 <= len(plain) <= 512
        and any(map(str.isalpha, plain))
        and any(map(str.isdigit, plain))
        and not any(char.isspace() or char in "()[]{}<>=," for char in plain)
    )
