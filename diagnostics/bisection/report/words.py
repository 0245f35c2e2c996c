"""What a bisection found, in words: the same ones on the screen, on the page and in the texts to hand on."""

from __future__ import annotations

from collections.abc import Sequence

from diagnostics.bisection.found import AxisRow, Bisection, SettingStatus
from diagnostics.bisection.trial import Failure, FailureKind
from diagnostics.report.headline import ranks_in_words


def headline(found: Bisection) -> str:
    """Returns the answer in one sentence, without a full stop."""
    if found.failure is None:
        on_what = " with the first batch of its script" if found.training else ""
        return f"{found.name} does not fail{on_what}: {_ways(found)}" if not found.undecided else found.undecided
    fails = failure_in_words(found.failure)
    if found.outside:
        return f"{found.name} {fails}, and no module of it is the cause: {found.outside}"
    if not found.modules:
        return f"{found.name} {fails}; which module it is stays undecided{_because(found.undecided)}"
    return f"{module_in_words(found)} {fails}"


def module_in_words(found: Bisection) -> str:
    """Returns "blocks.3.attn (Attention, model.py:12)", "the model itself (Net)", or a set."""
    about = ", ".join(filter(None, (found.module_class, found.module_place)))
    behind = f" ({about})" if about else ""
    if found.module is not None:
        return f"{path_in_words(found.module)}{behind}"
    several = listed([path_in_words(path) for path in found.modules[:6]])
    more = f" and {len(found.modules) - 6} more" if len(found.modules) > 6 else ""
    if found.relation == "each":
        return f"each of {several}{more}{behind}"
    return f"{several}{more} together{behind}"


def path_in_words(path: str) -> str:
    """Returns the path of a module; a bare number tells nothing, and neither does nothing."""
    if not path:
        return "the model itself"
    return f"module {path}" if path[:1].isdigit() else path


def failure_in_words(failure: Failure) -> str:
    """Returns "dies of SIGSEGV in forward", "raises RuntimeError in backward on rank 1", "hangs in forward"."""
    phase = f" in {_PHASES.get(failure.phase, failure.phase)}" if failure.phase else ""
    ranks = f" on {ranks_in_words(failure.ranks)}" if failure.ranks else ""
    match failure.kind:
        case FailureKind.SIGNAL:
            what = f"dies of {failure.detail}"
        case FailureKind.EXCEPTION:
            what = f"raises {failure.detail}"
        case FailureKind.HANG:
            what = "hangs"
        case FailureKind.EXIT:
            what = f"leaves with {failure.detail}"
        case FailureKind.NONFINITE:
            what = f"makes a {failure.detail or 'value'} that is no number"
        case FailureKind.DISAGREE:
            what = "leaves the ranks with different gradients or parameters"
        case FailureKind.MEMORY:
            what = "takes more memory than its limit"
    by_phase = "" if failure.kind in (FailureKind.NONFINITE, FailureKind.DISAGREE) else phase
    return f"{what}{by_phase}{ranks}"


_PHASES = {
    "construct": "its constructor",
    "wrap": "the wrapping",
    "optimizer": "the optimizer's step",
    "loss": "the loss",
}


def needs(found: Bisection) -> str:
    """Returns "needs world size 2 and wrapper ddp", or that it needs nothing of that."""
    rows = [f"{row.axis} {row.value}" for row in found.axes if row.standing is SettingStatus.NEEDED]
    return (
        f"needs {listed(rows)}" if rows else "needs none of these settings: it fails in one process, without a wrapper"
    )


def not_needed(rows: Sequence[AxisRow]) -> str:
    """Returns the settings that do not matter."""
    names = dict.fromkeys(
        row.axis for row in rows if row.standing in (SettingStatus.NOT_NEEDED, SettingStatus.NO_EFFECT)
    )
    return ", ".join(names)


def certainty(found: Bisection) -> str:
    """Returns how the named module is known."""
    if not found.modules:
        return ""
    one = found.module is not None
    it, they_fail = ("it", "it fails") if one else ("them", "they fail")
    heals = {True: f"without {it} the model passes", False: f"without {it} the model still fails"}
    alone = {True: f"alone {they_fail} in the same way", False: f"alone {'it does' if one else 'they do'} not fail"}
    said = [
        heals[found.heals] if found.heals is not None else f"whether the model passes without {it} could not be tried",
        alone[found.fails_alone] if found.fails_alone is not None else f"whether {they_fail} alone could not be tried",
    ]
    return "; ".join(said)


def listed(words: Sequence[str]) -> str:
    """Returns "a", "a and b", "a, b and c"."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"


def often(found: Bisection) -> str:
    """Returns "2 of 5 times", "" where each case was tried once."""
    return f"{found.failed} of {found.runs} times" if found.runs > 1 else ""


def _ways(found: Bisection) -> str:
    runs = sum(one.trial.runs for one in found.attempts if not one.trial.refusal)
    tried = sum(not one.trial.refusal for one in found.attempts)
    ways = f"{tried} ways of training it were tried" if tried != 1 else "1 way of training it was tried"
    return f"{ways}, {runs} run{'s' * (runs != 1)}"


def _because(why: str) -> str:
    return f": {why}" if why else ""
