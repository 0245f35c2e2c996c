"""Reading the stacks of other processes: really tried, really refused, and py-spy not there."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from fakes import FailingLimits, FakeChild, FakeLimits, child_result, fake_machine, preflight_config
from whole_finding import told

from diagnostics.machine.execution.child_process import GroupChild
from diagnostics.machine.facts import ChildResult
from diagnostics.preflight.host import stack_capture

WITHOUT_PTRACE = Path(__file__).parent.parent / "zoo" / "without_ptrace.py"
PY_SPY = Path(sys.executable).with_name("py-spy")


class ChildWithoutPtrace(GroupChild):
    """Real children, in which the kernel refuses ptrace."""

    def run(
        self,
        argv: Sequence[str],
        *,
        deadline_s: float,
        env: Mapping[str, str | None] | None = None,
        cwd: Path | None = None,
    ) -> ChildResult:
        return super().run([sys.executable, str(WITHOUT_PTRACE), *argv], deadline_s=deadline_s, env=env, cwd=cwd)


def test_py_spy_reads_the_stack_of_a_real_process() -> None:
    result = stack_capture.probe(fake_machine(child=GroupChild()), preflight_config(Path()))
    if result.findings:
        pytest.skip(f"ptrace is refused here: {result.findings[0].title}")
    assert (result.title, result.measured) == ("py-spy reads the stacks of other processes", {"py_spy": str(PY_SPY)})


def test_a_refused_ptrace_is_named_with_what_refuses_it() -> None:
    machine = fake_machine(child=ChildWithoutPtrace(), limits=FakeLimits(scope=1))
    findings = stack_capture.probe(machine, preflight_config(Path())).findings
    said = findings[0].evidence[0].observed  # py-spy's own words, which differ from run to run
    assert said.endswith("EPERM: Operation not permitted")
    assert told(findings) == (
        f"""WARNING P108 ptrace-refused at ptrace
py-spy may not read other processes: kernel.yama.ptrace_scope is 1, CAP_SYS_PTRACE is missing
saw {said} by {PY_SPY} dump --pid PID, not a stack
fix: allow ptrace in the container, or on the host
$ docker run --cap-add SYS_PTRACE ...
$ sudo sysctl kernel.yama.ptrace_scope=0"""
    )


def test_a_kernel_that_does_not_tell_why_is_no_obstacle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    (tmp_path / "py-spy").touch()
    refused = FakeChild(child_result("", stderr="Permission denied", returncode=1))
    machine = fake_machine(child=refused, limits=FailingLimits())
    assert told(stack_capture.probe(machine, preflight_config(Path())).findings) == (
        f"""WARNING P108 ptrace-refused at ptrace
py-spy may not read other processes: the kernel does not say why (/proc/sys/kernel/yama cannot be read)
saw Permission denied by {tmp_path}/py-spy dump --pid PID, not a stack
fix: allow ptrace in the container, or on the host
$ docker run --cap-add SYS_PTRACE ...
$ sudo sysctl kernel.yama.ptrace_scope=0"""
    )


def test_a_py_spy_that_is_not_there_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    machine = fake_machine(environ={"PATH": str(tmp_path)})
    assert told(stack_capture.probe(machine, preflight_config(tmp_path)).findings) == (
        f"""WARNING P108 py-spy-missing at py-spy
py-spy was not found; stacks of hanging ranks cannot be read
saw nothing by which py-spy, not a path
fix: install it beside the doctor
$ {tmp_path}/python -m pip install py-spy"""
    )
