"""Whether a value written under a name is a secret, and no placeholder, reference or word of the trade. Pure."""

from __future__ import annotations

import math
import re
from collections import Counter

from diagnostics.agent.shared.secret_lines import hidden
from diagnostics.agent.shared.secret_names import SURE, strength
from diagnostics.agent.shared.secret_patterns import is_secret_variable
from diagnostics.core.findings import Confidence

_PLACEHOLDER = re.compile(
    r"your|xxx|example|change_?me|placeholder|dummy|fake|\btest|todo|insert|replace|[_-]here\b|\.\.\.|\*\*\*|sample|redact"
    r"|1234567|abcdef|deadbeef|^<.*>$|^\[.*\]$|^none$|^null$|^(?:my|some|the)[_-]|local|^pass(?:word)?\d*$|^secret$|^admin$|^root$",
    re.IGNORECASE,
)
_REFERENCE = re.compile(r"^[$@~/.]|^\{\{|^file:|^vault:|^arn:|^env[:.]|\$\{|\$\(|\{\w*\}|^os\.|^gs://|^s3://")
_FREE = re.compile(r"_(?:FILE|PATH|URL|URI|NAME|DIR|TYPE|REF|ENDPOINT|LENGTH|ID)$", re.IGNORECASE)
# Where something lies: `models/2433d39e/function.zip`.
_PLACE = re.compile(r"[\w.@-]+(?:/[\w.@-]+)+\.[A-Za-z][A-Za-z0-9]{0,7}")
# Made to be given away with a program: PostHog's project keys, Stripe's publishable ones, Supabase's.
_PUBLIC = re.compile(r"^(?:phc_|pk_(?:live|test)_|sb_publishable_)")
_DIGEST = re.compile(r"[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}")  # what md5, sha1 and sha256 give
_WANDB = re.compile(r"[0-9a-f]{40}")
# Words with underscores between them: the name of something else.
_IDENTIFIER = re.compile(r"[_\W]*[A-Za-z]+\d{0,3}(?:[_\W]+(?:[A-Za-z]+\d{0,3}|\d{1,3}))*[_\W]*")
SHORTEST = 6


def is_secret_literal(name: str, value: str) -> Confidence | None:
    """Returns how sure it is that `value` under `name` is a secret in the open, None where it is none."""
    plain = value.strip().strip("\"'")
    if len(plain) < SHORTEST or len(plain) > 4096 or _is_placeholder(plain) or any(char.isspace() for char in plain):
        return None
    if _PUBLIC.match(plain) or _PLACE.fullmatch(plain):
        return None
    if hidden(plain) != plain and "://" not in plain:
        return Confidence.CONFIRMED
    if "wandb" in name.lower() and _WANDB.fullmatch(plain):
        return Confidence.CONFIRMED
    if _FREE.search(name) or "://" in plain or not is_secret_variable(name, plain):
        return None
    if _IDENTIFIER.fullmatch(plain):
        return Confidence.POSSIBLE if strength(name) == SURE else None
    if _DIGEST.fullmatch(plain) and strength(name) != SURE:
        return Confidence.POSSIBLE
    if len(plain) >= 20 and _is_random(plain):
        return Confidence.CONFIRMED
    mixed = any(char.isdigit() for char in plain) and any(char.isalpha() for char in plain)
    if mixed and (len(plain) >= 16 or strength(name) == SURE):
        return Confidence.LIKELY
    return Confidence.POSSIBLE


def _is_placeholder(value: str) -> bool:
    return bool(_PLACEHOLDER.search(value) or _REFERENCE.search(value)) or len(set(value.lower())) <= 4


def _is_random(value: str) -> bool:
    """Whether a value has the look of a generated one: digits and letters, few repeated."""
    counts = Counter(value)
    bits = -sum(count / len(value) * math.log2(count / len(value)) for count in counts.values())
    digits = sum(char.isdigit() for char in value)
    return bits > 3.2 and digits >= 3 and any(char.isalpha() for char in value)
