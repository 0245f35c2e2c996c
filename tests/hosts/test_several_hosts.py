"""`ups-doctor preflight --hosts` on real network namespaces: each fault is named, the healthy twin is silent."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from simulated_hosts import SimulatedHosts, why_not

pytestmark = pytest.mark.skipif(bool(why_not()), reason=why_not() or "all is there")

DOCTOR = [sys.executable, "-c", "from diagnostics.cli import main; main()", "preflight"]
WITHOUT_TORCH = ("--skip", "P911")  # the round of torch takes a process a host, and has tests of its own
QUIET_SPEED = ("--skip", "P910")  # two cores carry all hosts: their speeds have a test of their own


@dataclass
class Told:
    code: int
    error: str
    findings: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    outcomes: dict[str, dict[str, Any]] = field(default_factory=dict)

    def titles(self, code: str) -> list[str]:
        return [finding["title"] for finding in self.findings.get(code, [])]


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimulatedHosts]:
    with SimulatedHosts(4, tmp_path_factory.mktemp("hosts")) as made:
        yield made


@pytest.fixture
def job(tmp_path: Path) -> Path:
    folder = tmp_path / "job"
    folder.mkdir()
    (folder / "train.py").write_text("print('epoch 0')\n")
    (folder / "data.csv").write_text("1,2\n" * 50_000)
    return folder


def told(hosts: SimulatedHosts, job: Path, *words: str, file: Path | None = None) -> Told:
    asked = [*DOCTOR, "--hosts", str(file or hosts.file), "--remote", hosts.remote, "--json", *words]
    done = subprocess.run(asked, cwd=job, capture_output=True, text=True, check=False, timeout=240)
    verdict = json.loads(done.stdout) if done.stdout.startswith("{") else {"outcomes": []}
    answer = Told(code=done.returncode, error=done.stderr)
    for outcome in verdict["outcomes"]:
        answer.outcomes[outcome["code"]] = outcome
        if outcome["findings"]:
            answer.findings[outcome["code"]] = outcome["findings"]
    return answer


def file_of(hosts: SimulatedHosts, folder: Path, names: list[str]) -> Path:
    file = folder / "some-hosts"
    file.write_text("".join(f"{name} {hosts.address[name]}\n" for name in names))
    return file


def test_healthy_hosts_are_silent_and_torchs_own_round_passes(hosts: SimulatedHosts, job: Path) -> None:
    answer = told(hosts, job, "--data", "data.csv", *QUIET_SPEED)
    assert answer.findings == {}, answer.findings
    assert answer.code == 0
    skipped = {code for code, outcome in answer.outcomes.items() if outcome["status"] != "done"}
    assert skipped == {"P910"}, answer.outcomes
    page = next(job.glob("reports/*/report.md")).read_text()
    assert "**The 4 hosts are equal in what was asked, and reach each other.**" in page
    assert "| n3   | 10.77.0.3 | eth0" in page


def test_nothing_is_left_when_the_doctor_has_ended(hosts: SimulatedHosts, job: Path) -> None:
    told(hosts, job, *WITHOUT_TORCH, *QUIET_SPEED)
    for name in hosts.names:
        there = subprocess.run(["ip", "netns", "pids", hosts.space(name)], capture_output=True, text=True, check=True)
        assert there.stdout == ""


def test_an_unplugged_host_is_the_bad_one(hosts: SimulatedHosts, job: Path) -> None:
    with hosts.unplugged("n2"):
        answer = told(hosts, job, *WITHOUT_TORCH, *QUIET_SPEED)
    assert answer.titles("P908") == [
        "host n2 and the 3 other hosts it was tried with, which reach each other, do not reach each other"
    ]
    assert answer.findings["P908"][0]["where"] == "n2"
    assert [*answer.findings] == ["P908"]
    assert answer.code == 1


def test_a_blackholed_link_is_named_by_both_ends_and_accuses_neither(hosts: SimulatedHosts, job: Path) -> None:
    with hosts.blackholed("n1", "n3"):
        answer = told(hosts, job, *WITHOUT_TORCH, *QUIET_SPEED)
    assert answer.titles("P908") == ["hosts n1 and n3 do not reach each other, and both reach all others"]
    assert answer.findings["P908"][0]["where"] == "n1 - n3"
    assert [*answer.findings] == ["P908"]


def test_two_hosts_that_do_not_reach_each_other_prove_nothing_about_either(
    hosts: SimulatedHosts, job: Path, tmp_path: Path
) -> None:
    with hosts.unplugged("n2"):
        answer = told(hosts, job, *WITHOUT_TORCH, *QUIET_SPEED, file=file_of(hosts, tmp_path, ["n1", "n2"]))
    (title,) = answer.titles("P908")
    assert title.startswith("n1 and n2 do not reach each other; which of them is at fault is undecidable")
    assert answer.code == 1


def test_a_host_that_cannot_be_entered_gave_no_answer_and_is_not_called_faulty(
    hosts: SimulatedHosts, job: Path, tmp_path: Path
) -> None:
    file = file_of(hosts, tmp_path, hosts.names)
    file.write_text(file.read_text() + "n9 10.77.0.99  # was never built\n")
    answer = told(hosts, job, *WITHOUT_TORCH, *QUIET_SPEED, file=file)
    (title,) = answer.titles("P901")
    assert title.startswith("no answer from host n9: nsenter ended with exit code 1: ")
    assert "No such file or directory" in title
    assert [*answer.findings] == ["P901"]


def test_tasks_of_a_launcher_meet_at_the_first_host_and_one_that_never_comes_is_missed_by_name(
    hosts: SimulatedHosts, job: Path, tmp_path: Path
) -> None:
    soon = tmp_path / "doctor.yaml"
    soon.write_text("hosts_answer_s: 10.0\n")
    step = {"SLURM_JOB_ID": "7", "SLURM_STEP_ID": "0", "SLURM_STEP_NUM_NODES": "3", "SLURM_STEP_NODELIST": "n[1-3]"}

    def launch(names: list[str]) -> tuple[list[int], dict[str, Any]]:
        words = ["--skip", "P910,P911", "--thresholds", str(soon), "--json"]
        tasks = [
            subprocess.Popen(
                hosts.entered(name, *DOCTOR, *words), cwd=job, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                env={**os.environ, **step, "SLURM_PROCID": name[1:], "SLURM_NODEID": str(int(name[1:]) - 1)},
            )
            for name in names
        ]  # fmt: skip
        said = [task.communicate(timeout=600)[0] for task in tasks]
        assert said[1:] == [b""] * (len(names) - 1)
        return [task.returncode for task in tasks], json.loads(said[0])

    codes, verdict = launch(["n1", "n2", "n3"])
    assert codes == [0, 0, 0]
    assert [one for outcome in verdict["outcomes"] for one in outcome["findings"]] == []
    codes, verdict = launch(["n1", "n2"])
    assert codes == [1, 0]
    titles = [one["title"] for outcome in verdict["outcomes"] for one in outcome["findings"]]
    assert titles == ["no answer from host n3: it never came"]


def test_a_host_without_the_jobs_python_says_so(hosts: SimulatedHosts, job: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    with hosts.entering("n4", f"mount --bind {empty} {Path(sys.executable).parent}"):
        answer = told(hosts, job, *WITHOUT_TORCH, *QUIET_SPEED)
    (title,) = answer.titles("P901")
    assert title.startswith("no answer from host n4: ")
    assert f"{sys.executable}: not found" in title


def test_another_mtu_on_one_host_is_a_warning(hosts: SimulatedHosts, job: Path) -> None:
    with hosts.mtu("n3", 1300):
        answer = told(hosts, job, *WITHOUT_TORCH, *QUIET_SPEED)
    assert answer.titles("P909") == ["the MTU differs between hosts: 1300 on n3, 1500 on n1, n2 and n4"]
    assert answer.findings["P909"][0]["where"] == "n3"


def test_a_clock_that_torchrun_would_take_for_a_dead_host_is_an_error(hosts: SimulatedHosts, job: Path) -> None:
    with hosts.entering("n2", *hosts.skewed("n2", 40)):
        answer = told(hosts, job, *WITHOUT_TORCH, *QUIET_SPEED)
    (title,) = answer.titles("P904")
    assert (
        title
        == "the clock of host n2 is 40.0 s ahead of the others': torchrun's c10d rendezvous takes such a host for dead"
    )
    assert answer.code == 1
    with hosts.entering("n2", *hosts.skewed("n2", 3)):
        answer = told(hosts, job, *WITHOUT_TORCH, *QUIET_SPEED)
    assert answer.titles("P904") == ["the clock of host n2 is 3.0 s ahead of the others'"]
    assert answer.code == 0


def test_a_host_with_another_torch_is_named(hosts: SimulatedHosts, job: Path, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    place = Path(torch.__file__).parent / "version.py"
    other = tmp_path / "version.py"
    other.write_text(place.read_text().replace(torch.__version__, "2.9.1+cu128"))
    with hosts.entering("n4", f"mount --bind {other} {place}"):
        answer = told(hosts, job, *WITHOUT_TORCH, *QUIET_SPEED)
    assert answer.titles("P905") == [
        f"torch differs between hosts: 2.9.1+cu128 on n4, {torch.__version__} on n1, n2 and n3"
    ]
    assert answer.findings["P905"][0]["where"] == "n4"


def test_other_code_and_other_data_on_one_host_are_named_by_file(
    hosts: SimulatedHosts, job: Path, tmp_path: Path
) -> None:
    (tmp_path / "train.py").write_text("print('epoch 1')\n")
    (tmp_path / "data.csv").write_text("1,3\n" * 50_000)
    mounts = [f"mount --bind {tmp_path / name} {job / name}" for name in ("train.py", "data.csv")]
    with hosts.entering("n3", *mounts):
        answer = told(hosts, job, "--data", "data.csv", *WITHOUT_TORCH, *QUIET_SPEED)
    assert answer.titles("P906") == ["host n3 has other code than the rest: train.py"]
    assert answer.titles("P907") == [f"{job / 'data.csv'} holds other data on n3 than on the others"]


def test_an_own_name_that_does_not_resolve_is_an_error(hosts: SimulatedHosts, job: Path) -> None:
    with hosts.entering("n2", "hostname nowhere-2"):
        answer = told(hosts, job, *WITHOUT_TORCH, *QUIET_SPEED)
    assert answer.titles("P902") == ["n2 does not resolve its own name (nowhere-2): torchrun ends there as it starts"]


def test_own_names_that_are_loopback_are_told_and_torch_does_fail_on_two_of_them(
    hosts: SimulatedHosts, job: Path, tmp_path: Path
) -> None:
    debian = tmp_path / "etc-hosts"  # as Debian's installer writes it, with peers by other names
    debian.write_text("127.0.0.1 localhost\n127.0.1.1 n2 n3\n10.77.0.1 n1\n10.77.0.4 n4\n")
    mount = f"mount --bind {debian} /etc/hosts"
    with hosts.entering("n2", mount):
        one = told(hosts, job, *WITHOUT_TORCH, *QUIET_SPEED)
        with hosts.entering("n3", mount):
            two = told(hosts, job, *WITHOUT_TORCH, *QUIET_SPEED)
            proof = told(hosts, job, "--skip", "P902", *QUIET_SPEED)
    (finding,) = one.findings["P902"]
    assert finding["title"].startswith("n2 resolves its own name (n2) to 127.0.1.1: gloo's peers are told to connect")
    assert (finding["severity"], one.code) == ("warning", 0)  # one such host may still meet the others
    assert [row["severity"] for row in two.findings["P902"]] == ["error"]
    assert "torch's gloo fails over 4 hosts" in proof.titles("P911")[0]


def test_an_interface_that_one_host_does_not_have_is_named(hosts: SimulatedHosts, job: Path) -> None:
    with hosts.entering("n3", "export NCCL_SOCKET_IFNAME=ib0"):
        answer = told(hosts, job, *WITHOUT_TORCH, *QUIET_SPEED)
    assert "NCCL_SOCKET_IFNAME=ib0 names no interface with an address on host n3; it has eth0" in answer.titles("P903")
    assert {finding["where"] for finding in answer.findings["P903"]} == {"n3"}
