"""DDP waits for gradients of parameters that took no part in the loss.

What it does: takes "Expected to have finished reduction in the prior iteration", turns the indices in it into modules
by what the model's constructors were seen to make, and names the branch that leaves a module out, or where it is made.

Why it matters: torch gives numbers, and the line of the forward call, which is right.

Fix: use the module in every step, do not make it, or pass find_unused_parameters=True.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from diagnostics.core.findings import Confidence, Evidence, Fix
from diagnostics.core.wording import distinct, sentence
from diagnostics.diagnosis.match_building import blamed
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.failures.error_texts import TextMatch, match_text, merged_locations
from diagnostics.dynamic.job.evidence import names_of
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.model.loss_decisions import loss_decisions
from diagnostics.dynamic.model.unused_parameters import UnusedParameter, unused_parts
from diagnostics.dynamic.model.wrap_sites import static_wraps

CODE = "D601"
NAME = "parameters-without-gradient"
CLASS = "unused-parameters"
EXAMINES = AppliesTo.FAILED
MOST_CONDITIONS = 2  # one of more is a guess

UNFINISHED = re.compile(r"Expected to have finished reduction in the prior iteration")
INDICES = re.compile(r"Parameter indices which did not receive grad for rank \d+: ([\d ]+)")
NAMES = re.compile(r"Parameters which did not receive grad for rank \d+: ([\w., ]+)")


def match(job: Job) -> Match | None:
    """Returns the modules without a gradient and the line that leaves them out."""
    tellers = match_text(job, UNFINISHED)
    if not tellers or static_wraps(job, tellers[0].process):  # with static_graph=True the graph changed: D604
        return None
    one, processes = tellers[0], [teller.process for teller in tellers]
    indices = _indices(one)
    names = _names(one)
    unused, sure = unused_parts(job, one.process, indices, names)
    skipped = [line for part in unused for line in part.left_out]
    made = [part.made for part in unused if part.made]
    decided = loss_decisions(job, one.process) if unused and all(part.entered for part in unused) else []
    few = len(decided) if len(decided) <= MOST_CONDITIONS else 0
    modules = ", ".join(_words(part) for part in unused[:4]) or f"parameters {indices}"
    return blamed(
        job,
        processes,
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"{sentence(names_of(processes))}: {modules} got no gradient in a step, "
        f"{_reason(unused, len(tellers), job)}",
        evidence=(
            Evidence(source=f"exception in process {one.process.pid}", observed=_shown(one, indices, names)),
            *(Evidence(source=part.made, observed=f"{_words(part)} is made") for part in unused[:4] if part.made),
            *(Evidence(source=line, observed="leaves it out") for line in skipped[:3]),
            *(Evidence(source=line, observed="decides on the data what the loss is made of") for line in decided[:few]),
        ),
        fix=Fix(
            text=f"let {modules} take part in the loss in every step{_where(decided[:few])}, or do not make it; "
            "where it is meant to be left out at times: DistributedDataParallel(model, find_unused_parameters=True)"
        ),
        locations=distinct(
            [*decided[:few], *skipped[:2], *made, *skipped[2:], *decided, *merged_locations(job, tellers)]
        ),
        module=unused[0].path if unused else "",
        confidence=Confidence.CONFIRMED if sure else Confidence.LIKELY,
    )


def _where(decided: Sequence[str]) -> str:
    return f" (in the other case of {decided[0]} add 0 times the sum of its result)" if decided else ""


def _words(part: UnusedParameter) -> str:
    return f"{part.path} ({part.class_name})" if part.class_name else part.path


def _text(one: TextMatch) -> str:
    """The message, with what the process wrote where the message was cut."""
    return f"{one.found.string}\n{one.process.stderr}"


def _names(one: TextMatch) -> list[str]:
    """Returns the parameters that torch names, or that the agent looked up by torch's numbers."""
    event = one.process.agent.last_event("unused-parameters") if one.process.agent is not None else None
    lists = NAMES.findall(_text(one)) or [event.text if event is not None else ""]
    return [name.strip() for names in lists for name in names.split(",") if name.strip()]


def _indices(one: TextMatch) -> list[int]:
    found = INDICES.search(_text(one))
    return [int(word) for word in found[1].split()] if found else []


def _reason(unused: tuple[UnusedParameter, ...], count: int, job: Job) -> str:
    ranks = "" if count == len(job.ranks) else " on this rank only"
    if unused and unused[0].entered:
        return f"although it was called: its result takes no part in the loss{ranks}"
    if unused and unused[0].left_out:
        return f"since {unused[0].left_out[0]} leaves it out{ranks}"
    return f"since its forward is never called{ranks}" if unused else f"so that DDP never finished its reduction{ranks}"


def _shown(one: TextMatch, indices: list[int], names: list[str]) -> str:
    which = f"; without gradient: {', '.join(names) or ' '.join(map(str, indices))}" if names or indices else ""
    return one.found[0] + which
