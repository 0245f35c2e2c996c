"""Whether a value speaks of ranks, by its name. Pure."""

from __future__ import annotations

import re

from diagnostics.static.execution.values import Const, Made, Name, Value, usual

_WORDS = re.compile(
    r"rank|world|process_index|num_processes|replica|procid|node|seed|is_main|master|primary|chief|leader|gpu|local|proc",
    re.IGNORECASE,
)


def speaks_of_ranks(value: Value) -> bool:
    """Whether a name or text has to do with ranks or machines: a reader would ask what it is."""
    if isinstance(value, Const):
        return isinstance(value.value, str) and bool(_WORDS.search(value.value))
    return isinstance(value, (Made, Name)) and bool(_WORDS.search(value.name))


def is_common_seed(value: Value) -> bool:
    """Whether a value is a seed with a default, from the command line or a configuration: all ranks are given one.

    Of a call that seeds, `generator.manual_seed(seed)`, its argument says it.
    """
    words = _WORDS.findall(value.name) if isinstance(value, Made) else []
    if not isinstance(value, Made) or not words or any(one.lower() != "seed" for one in words):
        return False
    return bool(value.args) or isinstance(usual(value), Const)
