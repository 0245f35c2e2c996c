"""A few programs of the zoo through the real `ups-doctor run`; `make zoo` runs all of them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ZOO = Path(__file__).parent / "zoo"
sys.path.insert(0, str(ZOO))

import zoo_runs  # noqa: E402
import zoo_truth  # noqa: E402
from zoo_judgement import judge  # noqa: E402
from zoo_table import misses  # noqa: E402

FEW = [
    "demand_regions", "demand_fast_norm", "denoise_codec", "denoise_gains", "denoise_workers", "orders_report",
    "birds_loader_first",
]  # fmt: skip
CLASSES = {"native-crash", "python-exception", "data-worker-crash", "masked-exit", "zero-progress", "unused-parameters"}
CLASSES |= {"gradients-not-synchronised", "rank-divergence", "nan-on-rank", "gradients-not-cleared", "wrong-mode"}
CLASSES |= {"checkpoint-not-loaded", "corrupt-checkpoint"}
CLASSES |= {"state-not-kept", "wrong-loss", "wrong-schedule", "loader-empty"}


@pytest.mark.parametrize("name", FEW)
def test_the_doctor_tells_the_truth_about(name: str) -> None:
    truth = zoo_truth.load(name)
    if lacking := zoo_truth.lacking(truth):
        pytest.skip(f"this machine lacks {lacking}")

    verdict = judge(truth, zoo_runs.run_watched(truth), None)

    assert verdict.all_right, "\n".join(misses([verdict]))


def test_every_truth_file_fits_its_program() -> None:
    truths = [zoo_truth.load(name) for name in zoo_truth.names()]

    faulty = [truth for truth in truths if not truth.healthy]
    assert len(faulty) >= 30
    assert len(truths) - len(faulty) >= 12
    assert {truth.failure_class for truth in faulty} >= CLASSES
    assert [truth.name for truth in faulty if not truth.lines] == []


def test_nothing_in_the_doctor_knows_a_program_of_the_zoo() -> None:
    doctor = "\n".join(path.read_text() for path in (ZOO.parents[1] / "diagnostics").rglob("*.py"))

    assert [name for name in zoo_truth.names() if name in doctor] == []


def answer(**changed: Any) -> zoo_runs.Watched:
    report = {
        "outcome": "crash",
        "failure_class": "python-exception",
        "culprit_ranks": [1],
        "location": "data.py:23",
        "locations": ["data.py:23"],
        "findings": [],
        "job_exit_code": 1,
    }
    return zoo_runs.Watched(exit_code=1, report={**report, **changed}, seconds=1.0, to_report_s=0.5, output="")


@pytest.mark.parametrize(
    ("changed", "wrong"),
    [
        ({}, []),
        ({"outcome": "hang"}, ["outcome: 'hang', should be 'crash'"]),
        ({"failure_class": "unknown"}, ["class: 'unknown', should be 'python-exception'"]),
        ({"culprit_ranks": [0, 1]}, ["ranks: (0, 1), should be (1,)"]),
        ({"location": "data.py:1"}, ["line: 'data.py:1', should be 'data.py:23'"]),
        (
            {"not_captured": ["signature D501 same-samples: KeyError: 7", "signature D502 order: asked for too long"]},
            ["signatures: ('signature D501 same-samples: KeyError: 7',), should be 'no one that raises'"],
        ),
    ],
)
def test_a_wrong_answer_is_marked_as_one(changed: dict[str, Any], wrong: list[str]) -> None:
    assert list(judge(zoo_truth.load("demand_regions"), answer(**changed), None).wrong) == wrong


@pytest.mark.parametrize(
    ("changed", "right"),
    [
        ({}, None),
        ({"confidence": "likely", "location": "data.py:1"}, None),
        ({"confidence": "confirmed"}, True),
        ({"confidence": "confirmed", "location": "data.py:1"}, False),
        ({"confidence": "confirmed", "culprit_ranks": [0]}, False),
    ],
)
def test_what_is_stated_as_confirmed_is_counted_as_right_or_wrong(changed: dict[str, Any], right: bool | None) -> None:
    assert judge(zoo_truth.load("demand_regions"), answer(**changed), None).confirmed is right


def test_an_error_about_a_healthy_program_is_a_false_alarm() -> None:
    finding = {"severity": "error", "role": "root", "code": "D201", "title": "a crash"}
    healthy = zoo_truth.load("demand_plain")
    said_ok = {"outcome": "ok", "failure_class": "none", "job_exit_code": 1}

    assert judge(healthy, answer(**said_ok), None).false_alarm == ""
    assert judge(healthy, answer(**said_ok, findings=[finding]), None).false_alarm == "D201 a crash"
    assert judge(healthy, answer(), None).false_alarm == "outcome crash: None"


def test_the_score_of_one_program_is_printed_and_written(tmp_path: Path) -> None:
    argv = [sys.executable, str(ZOO / "score.py"), "--only", "orders_report", "--json", str(tmp_path / "score.json")]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)

    assert (done.returncode, done.stderr) == (0, "")
    assert "0 faulty programs, 1 healthy ones" in done.stdout
    score = json.loads((tmp_path / "score.json").read_text())
    assert score["shares"] == {"outcome": 1.0, "class": None, "rank": None, "line": None, "exit code": 1.0}
    assert score["programs"]["orders_report"]["bare_exit_code"] == 0
