"""Builds the Match of a proved deadlock: who waits for what, the slot, where the ways parted, and the proof."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from diagnostics.core.failure_classes import JobOutcome
from diagnostics.core.findings import Confidence, Evidence, Finding, Fix, Severity
from diagnostics.core.wording import sentence, shown_ranks
from diagnostics.diagnosis.agreement_fix import agreement_fix
from diagnostics.diagnosis.mismatch_fix import mismatch_fix
from diagnostics.diagnosis.signature import Match
from diagnostics.dynamic.collectives.hang_time import ended_by_itself, ended_by_own_timeout
from diagnostics.dynamic.collectives.rank_state import RankState, Whereabouts
from diagnostics.dynamic.collectives.thread_order import waits_of_threads
from diagnostics.dynamic.collectives.wait_for_graph import CollectiveMismatch, Deadlock
from diagnostics.dynamic.divergence.branch_relation import RankPartition
from diagnostics.dynamic.divergence.deadlock_diagnosis import DeadlockDiagnosis, deadlock_diagnosis, unlike_halves
from diagnostics.dynamic.divergence.divergence import DivergencePoint, StatementKind
from diagnostics.dynamic.divergence.held_exceptions import caught_text, held_text
from diagnostics.dynamic.divergence.out_of_place import WhyOutOfPlace
from diagnostics.dynamic.divergence.rank_partition import user_stack
from diagnostics.dynamic.job.evidence import names_of, path_evidence, source_evidence
from diagnostics.dynamic.job.job import Job
from diagnostics.static.dataflow import rank_words
from diagnostics.static.dataflow.taint_sources import EXCEPTION, RANK

MOST_SHOWN = 4
_LEFT = {
    Whereabouts.LEAVING: "is through with its program and only waits for its threads",
    Whereabouts.ENDED: "has ended",
}

_OF_THREADS = Fix(
    text="give the thread a process group of its own (dist.new_group), or wait for it before the next collective of "
    "its group: which thread comes first is left to chance on each rank"
)
_OUT_OF_PLACE = {
    WhyOutOfPlace.FINALIZER: Fix(
        text="make no collective in a finalizer (__del__, weakref.finalize): each rank frees its objects in its own "
        "time; release them by a call that all ranks make at one place"
    ),
    WhyOutOfPlace.NOT_SHADOWED: Fix(
        text="make no collective of your own between `with Join(...)` and its end: collect on each rank, and "
        "communicate behind it; or give Join a Joinable whose hook answers this one as well"
    ),
    WhyOutOfPlace.EMPTY_BACKWARD: Fix(
        text="keep a loss of nothing on the graph of the model: return predictions.sum() * 0 in place of a tensor made "
        "anew, so that every rank's backward pass reduces its gradients"
    ),
}
_SAID_OF = {
    WhyOutOfPlace.FINALIZER: "is in a finalizer, which each rank runs when it frees the object",
    WhyOutOfPlace.NOT_SHADOWED: "is a collective of the program's own, which no rank answers that has run out of "
    "inputs: Join answers only what its modules and optimizers exchange",
    WhyOutOfPlace.EMPTY_BACKWARD: "began a backward pass at a tensor without a graph, on some ranks: they computed "
    "and reduced no gradients, and are a reduction behind the others",
}


def proved_hang(job: Job, *, code: str, name: str, failure_class: str, fix: Fix) -> Match | None:
    """Returns the match where a deadlock of this class is proved, or presumed, else None."""
    process = deadlock_diagnosis(job)
    if process is None or process.failure_class != failure_class:
        return None
    ranks = [one for rank in process.deadlock.ranks if (one := job.of_rank(rank)) is not None]
    waiting = tuple(rank for rank in process.deadlock.ranks if rank not in process.culprits)
    where = (shown_ranks(process.culprits), *process.locations[:1])
    return Match(
        finding=Finding(
            code=code,
            name=name,
            severity=Severity.ERROR,
            title=_title(job, process),
            where=", ".join(where),
            evidence=tuple(_evidence(job, process)),
            fix=_fix(job, process, fix),
            confidence=Confidence.CONFIRMED if _is_sure(process) else Confidence.LIKELY,
        ),
        failure_class=failure_class,
        outcome=JobOutcome.CRASH if ended_by_itself(job) else JobOutcome.HANG,
        culprit_ranks=process.culprits,
        victim_ranks=waiting,
        locations=process.locations,
        explains=tuple(one.pid for one in (*ranks, *job.victims)),
        began_s=min(one.waits[0].since_s for one in process.deadlock.positions),
    )


def _fix(job: Job, process: DeadlockDiagnosis, usual: Fix) -> Fix:
    if not process.held:
        if process.by_threads:
            return _OF_THREADS
        if process.out_of_place is not None:
            return _OUT_OF_PLACE[process.out_of_place.why]
        decided = process.decisions[0] if process.decisions and process.locations[0] in process.decided else None
        if (alike := mismatch_fix(job, process.deadlock)) is not None:
            usual = alike
            if decided is None or not decided.tainted_by:  # the ranks met there, and nothing else says why they differ
                return usual
        return agreement_fix(job, decided, process.deadlock.positions, usual)
    first, raised = process.held[0]
    line = job.line(raised.user_path[0])
    if first.stand is Whereabouts.LEAVING:
        return Fix(
            text=f"mend what raised at {line}; stop the rank's threads in a `finally`, or start them with daemon=True: "
            "while one of them lives, neither the launcher nor the other ranks see that the rank has failed"
        )
    return Fix(
        text=f"mend what raised at {line}; make no collective in a `finally`, the exit of a `with` or at exit while "
        "an exception is on its way: the other ranks are elsewhere"
    )


def _is_sure(process: DeadlockDiagnosis) -> bool:
    """Whether the line is the only one, and which rank went another way is no choice. The deadlock itself is proved."""
    if process.deadlock.presumed:
        return False
    if not process.decisions or process.locations[0] not in process.decided:
        return len(process.locations) == 1
    if process.certain and process.decisions[0].observed:
        return True  # what the ranks hold says that they parted there, and how
    alone = len(process.splits) == 1 and len(process.splits[0].here) < len(process.splits[0].there)
    return process.certain and (alone or _tells_who(process.decisions[0]))


def _tells_who(decision: DivergencePoint) -> bool:
    """Whether the statement itself says who went another way: a test of the rank, a handler that one rank was in.

    What only follows from the rank (an empty shard) says that the ranks part there, and not who should not have.
    """
    if decision.tainted_by == EXCEPTION:
        return True
    return decision.tainted_by == RANK and rank_words.SHOWS_RANK.search(decision.text) is not None


def _title(job: Job, process: DeadlockDiagnosis) -> str:
    parties = _parties(job, process)
    told = "; ".join(sentence(one) if not index else one for index, one in enumerate(parties))
    decided = process.decisions[0] if process.decisions and not process.held else None
    line = f". Their ways part at {job.line(decided.frame)}: {decided.text}" if decided is not None else ""
    if decided is not None and process.out_of_place is not None:
        line = f". {job.line(decided.frame)} {_SAID_OF[process.out_of_place.why]}"
    end = "it can never go on" if len(process.deadlock.ranks) == 1 else "none of them can ever go on"
    if process.deadlock.presumed:
        end = "nothing came of that any more"
    if unlike_halves(process.deadlock):
        end = "they are for each other, and do not fit: tag, type or size differ"
    met = [f"{sentence(shown_ranks((one.rank,)))} went through {_call_of(job, one)}; " for one in _through(process)]
    return f"{''.join(met)}{told[:1].lower() if met else told[:1]}{told[1:]}: {end}{line}"


def _parties(job: Job, process: DeadlockDiagnosis) -> list[str]:
    """Returns "rank 0 waits in barrier() at train.py:31" for the ranks of each place, those to blame first."""
    groups: dict[str, list[int]] = {}
    held = {one.rank: f"{held_text(job, raised)} " for one, raised in process.held}
    if process.decisions and process.decisions[0].kind is StatementKind.HANDLES:
        held |= {rank: caught_text(job, rank, process.splits[0].parting) for rank in process.splits[0].parting.here}
    for one in (*process.deadlock.gone, *process.deadlock.positions):
        groups.setdefault(f"{held.get(one.rank, '')}{_stands(job, one)}", []).append(one.rank)
    order = sorted(groups.items(), key=lambda item: not set(item[1]) & set(process.culprits))
    return [f"{shown_ranks(tuple(ranks))} {_for(len(ranks), words)}" for words, ranks in order[:MOST_SHOWN]]


def _for(ranks: int, words: str) -> str:
    return words.replace("waits", "wait", 1) if ranks > 1 and words.startswith("waits") else words


def _through(process: DeadlockDiagnosis) -> list[RankState]:
    """Returns the ranks that went through an operation in which others wait with another call."""
    return [one for one in process.met if one not in process.deadlock.positions][:MOST_SHOWN]


def _call_of(job: Job, one: RankState) -> str:
    frames = user_stack(job, one)
    return f"{one.wait.shown if one.wait is not None else ''}{f' at {job.line(frames[0])}' if frames else ''}"


def _stands(job: Job, one: RankState) -> str:
    frames = user_stack(job, one)
    at = f" at {job.line(frames[0])}" if frames else ""
    if one.wait is None:
        return f"{_LEFT.get(one.stand, 'makes no call any more')}{f', left{at}' if at else ''}"
    beside = [f"{wait.shown} at {job.line(frame)}" for wait, frame in waits_of_threads(job, one)]
    more = f", and another thread in {' and '.join(beside)}" if beside else ""
    return f"waits in {one.wait.shown}{at}{more}"


def _evidence(job: Job, process: DeadlockDiagnosis) -> Iterator[Evidence]:
    deadlock = process.deadlock
    for one in (*deadlock.positions, *deadlock.gone)[: 2 * MOST_SHOWN]:
        yield Evidence(source=f"record/agents: rank {one.rank} at {one.at_s:.1f} s", observed=_position(job, one))
    yield Evidence(
        source="wait-for graph over these calls",
        observed=f"{shown_ranks(deadlock.ranks)} wait for {_how_long(deadlock)} ({deadlock.knot}), "
        f"from {deadlock.began_s:.1f} s on"
        + (f"; {'; '.join(map(_differs, deadlock.disagreements[:MOST_SHOWN]))}" if deadlock.disagreements else ""),
        expected="every operation that a rank waits in is reached by the ranks it needs",
    )
    if ended_by_own_timeout(job):
        yield Evidence(source="end of the job", observed="a collective gave up by its own timeout")
    for split in process.splits[:2]:
        yield from _split_evidence(job, split)
    for decision in process.decisions[:2]:
        yield from source_evidence(job, decision.frame)
    for held, raised in process.held[:MOST_SHOWN]:
        yield from path_evidence(job, f"traceback of rank {held.rank}", raised.user_path)
    for decision in process.decisions[:1]:
        yield from _values_evidence(job, process, decision)
    for one in deadlock.positions[:2]:
        yield from path_evidence(job, f"call path of rank {one.rank}", user_stack(job, one))


def _how_long(deadlock: Deadlock) -> str:
    return "each other, if no message is still under way" if deadlock.presumed else "ever"


def _position(job: Job, one: RankState) -> str:
    slot = f", operation {one.wait.slot} of group {one.wait.group}" if one.wait and one.wait.slot is not None else ""
    since = f", since {one.wait.since_s:.1f} s" if one.wait is not None else ""
    return f"{_stands(job, one)}{slot}{since}"


def _differs(pair: CollectiveMismatch) -> str:
    return f"rank {pair.one} and rank {pair.other} differ in {pair.what}"


def _split_evidence(job: Job, split: RankPartition) -> Iterator[Evidence]:
    agreed = split.parting.agreed
    here, there = (_processes(job, ranks) for ranks in (split.parting.here, split.parting.there))
    if agreed is not None:
        yield from path_evidence(job, f"last call that {here} and {there} made alike: {agreed.op}", agreed.path)


def _values_evidence(job: Job, process: DeadlockDiagnosis, decision: DivergencePoint) -> Iterator[Evidence]:
    """Yields what the statement read on each side, as the ranks told while they waited."""
    parting = process.splits[0].parting if len(process.splits) == 1 else None
    for ranks, values in (
        (parting.here, decision.here_values) if parting else ((), ()),
        (parting.there, decision.there_values) if parting else ((), ()),
    ):
        if values:
            told = ", ".join(f"{name} = {value}" for name, value in values)
            yield Evidence(source=f"variables at {job.line(decision.frame)} on {_processes(job, ranks)}", observed=told)


def _processes(job: Job, ranks: Sequence[int]) -> str:
    return names_of([one for rank in ranks if (one := job.of_rank(rank)) is not None])
