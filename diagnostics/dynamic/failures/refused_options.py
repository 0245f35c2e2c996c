"""What argparse and click say of a command line that they refuse, and what is to be passed instead. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

from diagnostics.record.tracebacks import plain_lines

EXIT_CODE = 2  # of both
LAST_LINES = 60  # a launcher's summary may follow
_ARGPARSE = re.compile(r"^[^:\n]{1,200}: error: (?P<said>.{1,400})$")
_CLICK = re.compile(
    # A box around it is that of rich, which typer writes.
    r"^(?:Error: |\u2502 )(?P<said>(?:No such (?:option|command)|Missing (?:option|argument|parameter)|Invalid value"
    r"|Got unexpected extra argument|Option )\b.{0,400})$"
)
_MISSING = re.compile(
    r"^the following arguments are required: (?P<all>.{1,300})$|^Missing (?:option|argument|parameter) ['\"]?"
    r"(?P<one>[^'\".\s]{1,100})"
)
_ONE_OF = re.compile(r"^one of the arguments (?P<of>.{1,300}) is required$")
_UNKNOWN = re.compile(
    r"^unrecognized arguments: (?P<all>.{1,300})$"
    r"|^No such (?P<kind>option|command):? ['\"]?(?P<one>[^'\".\s]{1,100})['\"]?\.?(?P<hint>.{0,200})$"
    r"|^Got unexpected extra arguments? \((?P<extra>.{1,300})\)$"
)
_NO_VALUE = re.compile(
    r"^argument (?P<one>.{1,100}?): expected (?P<count>.{1,40}) arguments?$|^Option '(?P<option>[^']{1,100})' requires "
)
_WRONG = re.compile(
    r"^argument (?P<one>[^:]{1,100}): (?P<why>(?:invalid|not allowed with) .{1,300})$"
    r"|^Invalid value for (?P<option>[^:]{1,100}): (?P<what>.{1,300})$"
)


@dataclass(frozen=True, slots=True)
class RefusedOptions:
    """The line that says it, and the remedy as the user would do it."""

    line: str
    remedy: str


def refused_options(written: str) -> RefusedOptions | None:
    """Returns what the last such line of a process's output refuses, None where there is none."""
    for line in reversed(plain_lines(written)[-LAST_LINES:]):
        text = line.strip().rstrip("\u2502").rstrip()
        found = _ARGPARSE.match(text) or _CLICK.match(text)
        if found is not None and (remedy := _remedy(found["said"].strip())):
            return RefusedOptions(text.lstrip("\u2502 "), remedy)
    return None


def _remedy(said: str) -> str:
    if found := _MISSING.match(said):
        return f"pass {found['all'] or found['one']}"
    if found := _ONE_OF.match(said):
        return f"pass one of {', '.join(found['of'].split())}"
    if found := _UNKNOWN.match(said):
        return _without(found)
    if found := _NO_VALUE.match(said):
        return f"pass a value behind {found['one'] or found['option']}"
    if found := _WRONG.match(said):
        return f"correct {found['one'] or found['option']}: {found['why'] or found['what']}".rstrip(".")
    return ""


def _without(found: re.Match[str]) -> str:
    words = (found["all"] or found["one"] or found["extra"]).split()
    options = [word.partition("=")[0] for word in words if word.startswith("-") and not _is_number(word)]
    hint = (found["hint"] or "").strip().strip("()").rstrip("?").strip()
    guess = f" ({hint[0].lower()}{hint[1:]}?)" if hint else ""
    if found["kind"] == "command":
        return f"there is no command {words[0]}: correct its name{guess}"
    if options:
        return f"there is no option {', '.join(options)}: correct the name, or leave it out{guess}"
    return f"nothing takes {' '.join(words)}: leave it out, or put the option's name before it"


def _is_number(word: str) -> bool:
    return word.lstrip("-").replace(".", "", 1).isdigit()
