"""Asks a trainer in which sizes it can build the models of a CONFIG, and says where on that ladder a failure begins."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from diagnostics.bisection.case import Source
from diagnostics.bisection.search.climbing import Climbed, Rung
from diagnostics.machine.facts import ChildTimeout, MachineError

if TYPE_CHECKING:
    from diagnostics.machine.contract import Child

VERB = "ladder"
DEADLINE_S = 60.0


def rungs_of(source: Source, *, python: str, child: Child) -> tuple[Rung, ...]:
    """Returns the sizes of this model, smallest first; none where there is no trainer, or it knows of no ladder."""
    if not source.adapter:
        return ()
    try:
        result = child.run([python, "-m", *_words(source.adapter)], deadline_s=DEADLINE_S)
    except (ChildTimeout, MachineError):
        return ()
    try:
        models = json.loads(result.stdout)["models"] if result.returncode == 0 else {}
        stage = source.stage or next(iter(models), "")
        return tuple(_rung(one) for one in models.get(stage, ()))
    except (AttributeError, KeyError, TypeError, ValueError):  # an adapter's answer is read as untrusted
        return ()


def climbed_lines(climbed: Climbed) -> tuple[str, ...]:
    """Returns what the ladder says, as evidence."""
    first, last = climbed.first_failing, climbed.last_passing
    if first is None:
        return ()
    tried = "; ".join(f"{name}: {result}" for name, result in climbed.results if result != "not tried")
    if last is not None:
        return (
            f"of the model's sizes, {first.name} is the first that fails, {last.name} the last that passes ({tried})",
        )
    return (f"of the model's sizes, {first.name} is the first that fails; none below it passes ({tried})",)


def _words(adapter: tuple[str, ...]) -> list[str]:
    """Returns the adapter's command line with our verb in place of `inspect`, and without its steps."""
    module, _, *rest = adapter
    if "--steps" in rest:
        place = rest.index("--steps")
        del rest[place : place + 2]
    return [module, VERB, *rest]


def _rung(one: Any) -> Rung:
    overrides = one["overrides"]
    if not isinstance(one["name"], str) or not isinstance(overrides, list):
        raise TypeError("a rung has a name and a list of overrides")
    return Rung(name=one["name"], overrides=tuple(str(override) for override in overrides))
