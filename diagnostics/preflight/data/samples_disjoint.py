"""The ranks read the same samples, or leave samples out.

What it does: puts together the sample indices of one epoch that every rank reported through the trainer's
own sampler, and looks for indices that came twice, never, or that do not exist.

Why it matters: without a distributed sampler every rank trains on the same data: N ranks cost N times as
much and learn what one would. Nothing fails, the loss curve looks normal.

Bad:

    loader = DataLoader(dataset, batch_size=32, shuffle=True)

Good:

    sampler = DistributedSampler(dataset)        # made after init_process_group
    loader = DataLoader(dataset, batch_size=32, sampler=sampler)

Where an adapter names how often each sample is due in an epoch (`planned`: several data sets sampled in
shares), that is what is expected in place of once.

Limits: a few duplicates that pad the last batch (fewer than there are ranks), or a few samples dropped at
its end (under 5 %), are a warning.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from diagnostics.adapter.answers import DataAnswer, data_answers
from diagnostics.core.findings import Evidence, Finding, Fix, Severity
from diagnostics.core.wording import shown_ranks
from diagnostics.machine.contract import Machine
from diagnostics.preflight.probe import PreflightConfig, ProbeResult, Skip, Stage

CODE = "P603"
NAME = "samples-disjoint"
STAGE = Stage.DATA
REQUIRES = ("P602",)
DROPPED_SHARE = 0.05
EXAMPLES = 5


def probe(machine: Machine, config: PreflightConfig) -> ProbeResult:
    """Returns findings over the first epoch; skipped where the adapter lists no indices."""
    if config.job is None:
        raise Skip("needs a CONFIG")
    answers = [answer for answer in data_answers(config.record_dir, config.nproc) if answer and answer.epochs]
    if not answers:
        raise Skip("the job's adapter reported no sample indices")
    size = max(answer.dataset_size for answer in answers)
    findings = [*_sizes(answers), *_duplicates(answers, size), *_missing(answers, size), *_foreign(answers, size)]
    often = "as often as planned" if answers[0].planned else "once an epoch"
    title = f"each of {size} samples is read {often}, by one of {len(answers)} ranks"
    return ProbeResult(title=title, findings=tuple(findings), measured={"dataset_size": size})


def _sizes(answers: Sequence[DataAnswer]) -> list[Finding]:
    sizes = {answer.rank: answer.dataset_size for answer in answers}
    if len(set(sizes.values())) == 1:
        return []
    usual = Counter(sizes.values()).most_common(1)[0][0]
    odd = [rank for rank, size in sizes.items() if size != usual]
    return [
        Finding(
            code=CODE,
            name="data-differs",
            severity=Severity.ERROR,
            title=f"{shown_ranks(odd)} saw {sizes[odd[0]]} samples, the others {usual}",
            where=shown_ranks(odd),
            evidence=(
                Evidence(
                    source="dataset_size in answer-data-RANK.json of this report",
                    observed=", ".join(f"rank {rank}: {size}" for rank, size in list(sizes.items())[:8]),
                    expected="the same number on every rank",
                ),
            ),
            fix=Fix(text="give every rank the same files; on several nodes compare them with sha256sum"),
        )
    ]


def _duplicates(answers: Sequence[DataAnswer], size: int) -> list[Finding]:
    counts, due = _read(answers), _due(answers, size)
    once = 0 if answers[0].planned else 1  # an index beyond the data set is told below
    twice = sorted(index for index, count in counts.items() if count > due.get(index, once))
    extra = sum(counts[index] - due.get(index, once) for index in twice)
    if not twice:
        return []
    first = twice[0]
    holders = [answer.rank for answer in answers if first in answer.epochs[0]]
    alike = len(answers) > 1 and len({frozenset(answer.epochs[0]) for answer in answers}) == 1
    padding = extra < len(answers)
    often = "planned" if answers[0].planned else "once an epoch"
    title = f"{len(twice)} of {size} samples are read more than {often}: {_some(twice)}"
    if alike:
        title = f"all {len(answers)} ranks read the same {len(twice)} samples: no distributed sampler is at work"
    return [
        Finding(
            code=CODE,
            name="duplicate-data",
            severity=Severity.WARNING if padding else Severity.ERROR,
            title=title + (" (the padding of the last batch)" if padding else ""),
            where=shown_ranks(holders),
            evidence=(
                Evidence(
                    source="sample indices of epoch 0 of every rank, answer-data-RANK.json of this report",
                    observed=f"sample {first} is read {counts[first]} times, by {shown_ranks(holders)}",
                    expected=f"{due.get(first, 0)} times" if answers[0].planned else "each sample once, by one rank",
                ),
            ),
            fix=Fix(text="give the loader a distributed sampler, made after the process group"),
        )
    ]


def _missing(answers: Sequence[DataAnswer], size: int) -> list[Finding]:
    read = _read(answers)
    missing = sorted(index for index, times in _due(answers, size).items() if read[index] < times)
    if not missing:
        return []
    few = len(missing) < DROPPED_SHARE * size
    return [
        Finding(
            code=CODE,
            name="missing-data",
            severity=Severity.WARNING if few else Severity.ERROR,
            title=f"{len(missing)} of {size} samples are read by no rank in epoch 0: {_some(missing)}"
            if not answers[0].planned
            else f"{len(missing)} of {size} samples are read less often than planned in epoch 0: {_some(missing)}",
            where=shown_ranks([answer.rank for answer in answers]),
            evidence=(
                Evidence(
                    source="sample indices of epoch 0 of every rank, answer-data-RANK.json of this report",
                    observed="; ".join(f"rank {answer.rank}: {len(answer.epochs[0])}" for answer in answers[:8]),
                    expected=f"{size} samples together",
                ),
            ),
            fix=Fix(
                text="leave no samples out: drop_last=False, and as many samples for the sampler as for the data set"
            ),
        )
    ]


def _foreign(answers: Sequence[DataAnswer], size: int) -> list[Finding]:
    wrong = {answer.rank: index for answer in answers for index in answer.epochs[0] if not 0 <= index < size}
    if not wrong:
        return []
    rank, index = next(iter(wrong.items()))
    return [
        Finding(
            code=CODE,
            name="sample-out-of-range",
            severity=Severity.ERROR,
            title=f"{shown_ranks(list(wrong))} will ask for sample {index}, there are samples 0 to {size - 1}",
            where=f"rank {rank}",
            evidence=(
                Evidence(
                    source=f"answer-data-{rank}.json of this report", observed=str(index), expected=f"0 to {size - 1}"
                ),
            ),
        )
    ]


def _read(answers: Sequence[DataAnswer]) -> Counter[int]:
    return Counter(index for answer in answers for index in answer.epochs[0])


def _due(answers: Sequence[DataAnswer], size: int) -> Mapping[int, int]:
    """Returns how often each sample is to be read in an epoch."""
    return answers[0].planned or dict.fromkeys(range(size), 1)


def _some(indices: Sequence[int]) -> str:
    return ", ".join(map(str, indices[:EXAMPLES])) + (", ..." if len(indices) > EXAMPLES else "")
