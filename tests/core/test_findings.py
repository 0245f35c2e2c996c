from __future__ import annotations

import json

import pytest
from examples import HEALTHY, LEFT_OVER, MIXED, SMALL_SHM, outcome

from diagnostics.core.findings import Evidence, Finding, Severity, Status, Verdict, to_json


def verdict(*outcomes: object) -> Verdict:
    return Verdict(outcomes=outcomes, seconds=1.0)  # type: ignore[arg-type]


def test_a_finding_without_evidence_is_refused() -> None:
    with pytest.raises(ValueError, match="finding P999 a-rumour has no evidence"):
        Finding(code="P999", name="a-rumour", severity=Severity.ERROR, title="it is said", where="here", evidence=())


def test_severities_are_ordered() -> None:
    assert max(Severity.WARNING, Severity.ERROR, Severity.INFO) is Severity.ERROR


@pytest.mark.parametrize(
    ("outcomes", "code", "strict_code"),
    [
        ((), 0, 0),
        (HEALTHY.outcomes, 0, 0),
        ((MIXED.outcomes[1],), 0, 1),
        ((MIXED.outcomes[2],), 1, 1),
        ((MIXED.outcomes[3],), 0, 0),
        ((MIXED.outcomes[4],), 3, 3),
        ((MIXED.outcomes[5],), 3, 3),
        ((MIXED.outcomes[1], MIXED.outcomes[5]), 3, 1),
        ((MIXED.outcomes[2], MIXED.outcomes[5]), 1, 1),
    ],
)
def test_the_exit_code_follows_from_the_outcomes(outcomes: tuple[object, ...], code: int, strict_code: int) -> None:
    assert verdict(*outcomes).exit_code() == code
    assert verdict(*outcomes).exit_code(strict=True) == strict_code


def test_only_what_ran_to_its_end_without_an_error_has_passed() -> None:
    assert [item.passed for item in MIXED.outcomes] == [True, True, False, False, False, False]
    assert [item.undecided for item in MIXED.outcomes] == [False, False, False, False, True, True]
    assert [item.worst for item in MIXED.outcomes[:3]] == [None, Severity.WARNING, Severity.ERROR]


def test_a_verdict_collects_in_the_order_of_the_checks() -> None:
    assert MIXED.findings == (LEFT_OVER, SMALL_SHM)
    assert MIXED.errors == (SMALL_SHM,)
    assert [item.code for item in MIXED.undecided] == ["P302", "P401"]


def test_values_cannot_be_changed_or_given_by_position() -> None:
    with pytest.raises(AttributeError):
        SMALL_SHM.title = "other"  # type: ignore[misc]
    with pytest.raises(TypeError):
        Evidence("source", "observed")  # type: ignore[misc]


def test_json_holds_plain_values_only() -> None:
    plain = to_json(verdict(outcome("P101", "x", "host", Status.SKIPPED, reason="no", measured={"sizes": (1, 2)})))
    assert json.loads(json.dumps(plain)) == plain
    assert plain == {
        "outcomes": [
            {
                "code": "P101",
                "name": "x",
                "stage": "host",
                "status": "skipped",
                "title": "x",
                "seconds": 0.0,
                "findings": [],
                "reason": "no",
                "detail": "",
                "applies": True,
                "measured": {"sizes": [1, 2]},
            }
        ],
        "seconds": 1.0,
    }
