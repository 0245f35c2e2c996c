"""The doctor's quick stages before a run starts: an error there refuses the start, in one sentence."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from diagnostics.api import Verdict, check
from ups.errors import UpsError


def examine(config: Path, overrides: tuple[str, ...], nproc: int, say: Callable[[str], None]) -> None:
    """Runs the quick stages and says in one line what came of them. Raises UpsError where they found an error."""
    refuse(check(config, overrides, nproc=nproc), config, say)


def refuse(verdict: Verdict, config: Path, say: Callable[[str], None]) -> None:
    """Raises UpsError naming the errors of a verdict; what stayed undecided is said, and refuses nothing."""
    more = f"all of it: ups-doctor preflight {config}"
    if verdict.errors:
        first, *others = verdict.errors
        also = f", and {len(others)} more errors" if len(others) > 1 else ", and another error" if others else ""
        fix = first.fix
        remedy = [fix.text, *fix.commands] if fix is not None else []
        raise UpsError(
            f"preflight refuses to start: {first.code} {first.title} ({first.where}){also}",
            hint="\n".join([*remedy, f"{more}; --no-preflight starts all the same"]),
        )
    undecided = f", {len(verdict.undecided)} undecided ({more})" if verdict.undecided else ""
    say(f"preflight: {len(verdict.outcomes)} checks, no error{undecided} ({verdict.seconds:.1f} s)")
