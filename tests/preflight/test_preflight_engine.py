from __future__ import annotations

import importlib
import itertools
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from fakes import FakeRanks, fake_machine, preflight_config

from diagnostics.core.errors import DoctorError, UsageError
from diagnostics.core.findings import Outcome, Status, Verdict
from diagnostics.core.thresholds import Thresholds
from diagnostics.machine.this import open_machine
from diagnostics.preflight.engine import PreflightInterrupted, default_stages, run_preflight
from diagnostics.preflight.plan import Probe, in_order, load_probes, parse_skips, parse_stages
from diagnostics.preflight.probe import Stage
from diagnostics.preflight.setup import settle

Package = Callable[..., ModuleType]
_numbers = itertools.count()

HEALTHY = 'return ProbeResult(title="all is well", measured={"latency_us": 12.5})'
FIND = """
    return ProbeResult(title="unseen", findings=(Finding(
        code=CODE, name="too-small", severity=Severity.ERROR, title="it is too small", where="/dev/shm",
        evidence=(Evidence(source="df", observed="64 MiB"),)),))
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Package:
    """Makes a package of probes from `code=body` and imports it; what is named by `extra` is written as it is."""

    def make(extra: dict[str, str] | None = None, stages: dict[str, str] | None = None, **bodies: str) -> ModuleType:
        name = f"made_probes_{next(_numbers)}"
        folder = tmp_path / name
        folder.mkdir()
        (folder / "__init__.py").touch()
        for code, body in bodies.items():
            requires = ""
            if body.startswith("after "):
                words, _, body = body.removeprefix("after ").partition(": ")
                requires = f"REQUIRES = {tuple(words.split())!r}"
            stage = (stages or {}).get(code, list(Stage)[int(code[1]) - 1].value)
            (folder / f"probe_{code.lower()}.py").write_text(
                "import time, sys\n"
                "from diagnostics.machine.facts import ChildTimeout\n"
                "from diagnostics.preflight.probe import NotApplicable, ProbeResult, Skip, Stage\n"
                "from diagnostics.core.findings import Evidence, Finding, Severity\n"
                f"CODE = {code!r}\nNAME = 'probe-{code.lower()}'\nSTAGE = Stage({stage!r})\n{requires}\n"
                f"def probe(machine, config):\n    {body}\n"
            )
        for file, text in (extra or {}).items():
            (folder / file).write_text(text)
        monkeypatch.syspath_prepend(str(tmp_path))
        importlib.invalidate_caches()
        return importlib.import_module(name)

    yield make  # type: ignore[misc]
    for name in [name for name in sys.modules if name.startswith("made_probes_")]:
        del sys.modules[name]


class Recorder:
    def __init__(self) -> None:
        self.events: list[str] = []

    def started(self, probe: Probe) -> None:
        self.events.append(f"start {probe.code}")

    def finished(self, outcome: Outcome) -> None:
        self.events.append(f"end {outcome.code} {outcome.status}")


def run(package: ModuleType, tmp_path: Path, **options: object) -> Verdict:
    return run_preflight(preflight_config(tmp_path), fake_machine(), package=package, **options)  # type: ignore[arg-type]


def told(verdict: Verdict) -> list[tuple[str, str, str]]:
    return [(outcome.code, str(outcome.status), outcome.reason) for outcome in verdict.outcomes]


def test_probes_run_by_stage_and_code_and_tell_the_observer(package: Package, tmp_path: Path) -> None:
    recorder = Recorder()
    run(package(P301=HEALTHY, P102=HEALTHY, P101=HEALTHY, P201=HEALTHY), tmp_path, observer=recorder)
    assert recorder.events == [
        "start P101", "end P101 done", "start P102", "end P102 done",
        "start P201", "end P201 done", "start P301", "end P301 done",
    ]  # fmt: skip


def test_a_probe_runs_after_what_it_requires_also_within_a_stage(package: Package, tmp_path: Path) -> None:
    verdict = run(package(P101=f"after P103: {HEALTHY}", P102=HEALTHY, P103=HEALTHY), tmp_path)
    assert [outcome.code for outcome in verdict.outcomes] == ["P102", "P103", "P101"]


def test_a_pass_keeps_its_title_seconds_and_measurements(package: Package, tmp_path: Path) -> None:
    (outcome,) = run(package(P101=HEALTHY), tmp_path).outcomes
    assert (outcome.title, outcome.name, outcome.stage) == ("all is well", "probe-p101", "host")
    assert outcome.measured == {"latency_us": 12.5}
    assert outcome.passed
    assert outcome.seconds > 0


def test_every_way_to_end_is_an_outcome_of_its_own_and_stops_nothing(package: Package, tmp_path: Path) -> None:
    made = package(
        P101=FIND,
        P102="raise Skip('no GPU here')",
        P103="raise ChildTimeout('no answer in 20 s')",
        P104="raise ZeroDivisionError('a fault')",
        P105="sys.exit(7)",
        P106="return None",
        P107=HEALTHY,
    )
    verdict = run(made, tmp_path)
    assert told(verdict) == [
        ("P101", "done", ""),
        ("P102", "skipped", "no GPU here"),
        ("P103", "timed-out", "no answer in 20 s"),
        ("P104", "crashed", "ZeroDivisionError: a fault"),
        ("P105", "crashed", "SystemExit: 7"),
        ("P106", "crashed", "TypeError: probe() of P106 returned NoneType, not a Result"),
        ("P107", "done", ""),
    ]
    assert "probe_p104.py" in verdict.outcomes[3].detail
    assert verdict.exit_code() == 1


def test_what_requires_a_probe_that_did_not_pass_is_skipped_with_its_name(package: Package, tmp_path: Path) -> None:
    made = package(
        P101=FIND,
        P102="raise Skip('no GPU')",
        P103="raise ChildTimeout('late')",
        P104="raise ValueError",
        P201=f"after P101 P102: {HEALTHY}",
        P202=f"after P103: {HEALTHY}",
        P203=f"after P104: {HEALTHY}",
        P204=f"after P203: {HEALTHY}",
    )
    assert told(run(made, tmp_path))[4:] == [
        ("P201", "skipped", "needs P101, which found an error, P102, which was skipped"),
        ("P202", "skipped", "needs P103, which gave no answer"),
        ("P203", "skipped", "needs P104, which crashed"),
        ("P204", "skipped", "needs P203, which was skipped"),
    ]


def test_a_check_with_nothing_to_look_at_holds_up_nobody(package: Package, tmp_path: Path) -> None:
    made = package(P101="raise NotApplicable('no GPU')", P201=f"after P101: {HEALTHY}")
    assert told(run(made, tmp_path)) == [("P101", "skipped", "no GPU"), ("P201", "done", "")]


def test_a_warning_holds_up_nobody(package: Package, tmp_path: Path) -> None:
    made = package(P101=FIND.replace("ERROR", "WARNING"), P201=f"after P101: {HEALTHY}")
    assert [status for _, status, _ in told(run(made, tmp_path))] == ["done", "done"]


def test_what_was_left_out_on_request_is_told_and_holds_up_nobody(package: Package, tmp_path: Path) -> None:
    made = package(P101=FIND, P201=f"after P101: {HEALTHY}", P301=HEALTHY)
    verdict = run(made, tmp_path, stages=(Stage.HOST, Stage.LAUNCH), skip={"P101"})
    assert told(verdict) == [("P101", "skipped", "left out by --skip"), ("P201", "done", "")]


def test_a_file_that_cannot_be_imported_is_a_crash_of_that_check_alone(package: Package, tmp_path: Path) -> None:
    made = package(
        {"broken_one.py": 'CODE = "P202"\nimport no_such_module\n', "nameless.py": "1 / 0\n", "helper.py": "x = 1\n"},
        P101=HEALTHY,
    )
    folder = made.__path__[0]
    assert sorted(told(run(made, tmp_path))) == [
        ("P101", "done", ""),
        (
            "P202",
            "crashed",
            f"{folder}/broken_one.py cannot be loaded: ModuleNotFoundError: No module named 'no_such_module'",
        ),
        ("P???", "crashed", f"{folder}/nameless.py cannot be loaded: ZeroDivisionError: division by zero"),
    ]


def test_a_probe_file_without_its_parts_is_a_crash_that_names_the_part(package: Package, tmp_path: Path) -> None:
    made = package({"half.py": 'CODE = "P103"\nNAME = "half"\n'})
    (outcome,) = run(made, tmp_path).outcomes
    assert outcome.reason.endswith("AttributeError: module '" + made.__name__ + ".half' has no attribute 'STAGE'")


def test_two_files_with_one_code_are_refused(package: Package) -> None:
    made = package({"twin.py": 'CODE = "P101"\n'}, P101=HEALTHY)
    with pytest.raises(DoctorError, match=r"twin\.py and .*probe_p101\.py both have CODE = 'P101'"):
        load_probes(made)


def test_probes_that_require_each_other_are_refused(package: Package) -> None:
    probes, _ = load_probes(package(P101=f"after P102: {HEALTHY}", P102=f"after P101: {HEALTHY}"))
    with pytest.raises(DoctorError, match=r"in a circle: P10\d -> P10\d -> P10\d"):
        in_order(probes)


def test_an_interrupt_keeps_what_was_found_and_says_what_was_not_reached(package: Package, tmp_path: Path) -> None:
    made = package(P101=HEALTHY, P102="raise KeyboardInterrupt", P103=HEALTHY)
    with pytest.raises(PreflightInterrupted) as stop:
        run(made, tmp_path)
    assert told(stop.value.verdict) == [
        ("P101", "done", ""),
        ("P102", "skipped", "interrupted while it ran"),
        ("P103", "skipped", "not reached before the interrupt"),
    ]


def test_torch_is_warmed_once_before_the_first_probe_and_not_for_nothing(package: Package, tmp_path: Path) -> None:
    ranks = FakeRanks()
    made = package(P101=HEALTHY)
    run_preflight(preflight_config(tmp_path), fake_machine(ranks=ranks), package=made)
    assert ranks.asked == ["warm"]
    run_preflight(preflight_config(tmp_path), fake_machine(ranks=ranks), package=made, stages=(Stage.DEVICE,))
    assert ranks.asked == ["warm"]


def test_default_stages_follow_what_was_given() -> None:
    assert default_stages(has_job=True, has_script=False) == tuple(one for one in Stage if one is not Stage.HOSTS)
    assert [*default_stages(has_job=False, has_script=False)] == [
        "host",
        "launch",
        "rendezvous",
        "collectives",
        "device",
    ]
    assert [*default_stages(has_job=False, has_script=True)] == ["host", "launch", "rendezvous", "collectives"]


def test_an_unknown_stage_or_check_names_the_nearest(package: Package) -> None:
    probes, _ = load_probes(package(P101=HEALTHY, P204=HEALTHY))
    assert parse_stages(["rendezvous", "host"]) == (Stage.HOST, Stage.RENDEZVOUS)
    assert parse_skips(["launch", "probe-p101", "model"], probes) == {"P204", "P101"}
    with pytest.raises(UsageError, match="unknown stage 'rendezvus'; did you mean 'rendezvous'"):
        parse_stages(["rendezvus"])
    with pytest.raises(UsageError, match="unknown check or stage 'P205'; did you mean 'P204'"):
        parse_skips(["P205"], probes)


def test_a_check_that_did_not_run_to_its_end_is_no_pass(package: Package, tmp_path: Path) -> None:
    verdict = run(package(P101="raise ChildTimeout('late')", P102="raise Skip('no')"), tmp_path)
    assert [outcome.passed for outcome in verdict.outcomes] == [False, False]
    assert verdict.exit_code() == 3
    assert verdict.outcomes[0].status is Status.TIMED_OUT


def test_a_python_that_cannot_be_started_is_a_finding_and_no_crash(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text("no program")
    with open_machine(str(python)) as machine:
        settled = settle(machine, python=str(python), record_dir=tmp_path, thresholds=Thresholds(), nproc=2)
        verdict = run_preflight(settled, machine, stages=(Stage.HOST,))
    assert "P110" in {finding.code for finding in verdict.errors}
