"""Seconds to the report in the zoo's score, over job.json files as the supervisor writes them."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent / "zoo"))

from zoo_seconds import to_report_s, writings

STARTED_NS = 1_000_000_000_000
CRASH = {"processes": [{"end": {"exit_code": 0, "at_s": 1.0}}, {"end": {"signal": 11, "at_s": 4.0}}, {"end": None}]}
PROVED = {"ended_by": "deadlock", "proved": [{"began_s": 6.0, "proved_s": 8.0}]}
STALLED = {
    "ended_by": "stall-timeout",
    "stalls": [{"began_s": 2.0, "over_s": 9.0}, {"began_s": 10.0, "over_s": None}],
    "processes": [{"end": {"signal": 15, "at_s": 31.0}}],
}


@pytest.mark.parametrize(
    ("job", "written_s", "took_s"),
    [
        (CRASH, [4.5], 0.5),
        (PROVED, [8.5, 9.5], 2.5),
        (STALLED, [5.0, 25.0, 32.0], 15.0),  # the report of the first stall says nothing about the second
        (STALLED, [5.0], None),
        ({"ended_by": "deadlock"}, [5.0], None),
        ({"ended_s": 3.0}, [3.25], 0.25),
        ({}, [3.25], None),
    ],
)
def test_a_report_counts_from_the_trouble_that_it_tells_of(
    job: dict[str, Any], written_s: list[float], took_s: float | None
) -> None:
    written_ns = [STARTED_NS + int(at_s * 1e9) for at_s in written_s]

    assert to_report_s({"started_ns": STARTED_NS, **job}, written_ns) == took_s


def test_each_writing_of_a_report_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    part = tmp_path / "report.part"
    with writings(path) as seen:
        part.write_text("provisional")
        first_ns = part.stat().st_mtime_ns
        part.replace(path)
        deadline = time.monotonic() + 10
        while not seen and time.monotonic() < deadline:
            time.sleep(0.01)
        part.write_text("final")
        part.replace(path)

    assert seen == [first_ns, path.stat().st_mtime_ns]
