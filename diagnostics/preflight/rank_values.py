"""Compares what ranks got from a collective with what it is. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from diagnostics.core.findings import Evidence, Finding, Fix, Severity
from diagnostics.machine.facts import RankResult

SICK = Fix(
    text="repeat it; a value that stays wrong is a sick device, driver or network card: take the machine out",
    commands=("nvidia-smi -q -d ECC", "dmesg | tail"),
)


def hello_finding(code: str, ranks: Sequence[RankResult], backend: str) -> tuple[Finding, ...]:
    """Returns a finding for each rank whose first all_reduce gave another sum."""
    return tuple(
        wrong_value(code, f"{backend} all_reduce", "float32", rank.rank, rank.answer["got"], rank.answer["expected"])
        for rank in ranks
        if rank.answer.get("got") != rank.answer.get("expected")
    )


def wrong_value(code: str, operation: str, dtype: str, rank: int, got: object, expected: object) -> Finding:
    """Returns the finding that names operation, dtype, rank, what it got and what is right."""
    return Finding(
        code=code,
        name="wrong-value",
        severity=Severity.ERROR,
        title=f"{operation} of {dtype} gave rank {rank} the value {got}, right is {expected}",
        where=f"rank {rank}",
        evidence=(Evidence(source=f"{operation}, {dtype}, rank {rank}", observed=str(got), expected=str(expected)),),
        fix=SICK,
    )


def wrong_values(code: str, operation: str, ranks: Sequence[RankResult]) -> tuple[Finding, ...]:
    """Returns a finding for each rank and dtype that got a wrong value in task `values`."""
    return tuple(
        wrong_value(code, operation, one["dtype"], rank.rank, one["got"], one["expected"])
        for rank in ranks
        for one in rank.answer.get("wrong", ())
    )


def unsupported(code: str, operation: str, backend: str, ranks: Sequence[RankResult]) -> tuple[Finding, ...]:
    """Returns one INFO finding naming the dtypes in which this backend does not offer an operation."""
    lacking = ranks[0].answer.get("unsupported", ()) if ranks else ()
    if not lacking:
        return ()
    dtypes = ", ".join(one["dtype"] for one in lacking)
    return (
        Finding(
            code=code,
            name="operation-unsupported",
            severity=Severity.INFO,
            title=f"{backend} offers no {operation} of {dtypes}",
            where=backend,
            evidence=(Evidence(source=f"{operation} on {backend}", observed=lacking[0]["error"]),),
        ),
    )
