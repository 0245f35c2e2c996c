"""One page over several hosts: who failed first, who only lost a peer, who is silent."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from diagnostics.cluster.cluster_page import markdown, summary
from diagnostics.cluster.host_report import read_hosts
from diagnostics.cluster.merge import merged
from diagnostics.cluster.verdict import ClusterVerdict
from diagnostics.core.errors import UsageError

DOCTOR = str(Path(sys.executable).parent / "ups-doctor")
STARTED_NS = 1_790_000_000 * 10**9
LOST = "Ranks {0} raised at train.py:9: RuntimeError: Read error [{1}]:33199: Connection reset by peer"


def host(
    shared: Path, name: str, ranks: Sequence[int], *, outcome: str = "ok", culprits: Sequence[int] = (),
    cause: str = "", at_s: float = 5.0, ahead_s: float = 0.0, world: int = 4, reported: bool = True, pid: int = 100,
    run_id: str = "run", address: str = "", code: str = "same", failure_class: str = "native-crash",
) -> None:  # fmt: skip
    """Writes what `run --share` leaves of one host; times by a clock that is `ahead_s` ahead."""
    folder = shared / f"{run_id}-{name}-{pid}-1790000000"
    (folder / "record" / "sources").mkdir(parents=True)
    facts = {"host": name, "pid": pid, "run_id": run_id, "started_s": 1_790_000_000.0 + pid, "addresses": [address]}
    (folder / "host.json").write_text(json.dumps(facts))
    if not reported:
        return
    (folder / "record" / "sources" / "index.json").write_text(json.dumps({"/job/train.py": "001-train.py"}))
    (folder / "record" / "sources" / "001-train.py").write_text(code)
    processes = [{"pid": 7, "start_ticks": 1, "variables": {"WORLD_SIZE": str(world), "RANK": str(ranks[0])}}]
    job = {"command": [], "cwd": "/", "started_ns": STARTED_NS + int(ahead_s * 1e9), "processes": processes}
    (folder / "record" / "job.json").write_text(json.dumps(job))
    timeline: list[dict[str, Any]] = [
        {"at_s": step * 1.0, "rank": ranks[0], "pid": 1, "what": f"did all_reduce #{step}"} for step in range(4)
    ]
    timeline += [{"at_s": at_s, "rank": rank, "pid": 1, "what": "died of SIGSEGV"} for rank in culprits]
    report = {
        "schema": 1, "kind": "run", "outcome": outcome, "root_cause": cause, "culprit_ranks": list(culprits),
        "failure_class": failure_class if culprits else "none", "fix": "",
        "location": "train.py:31" if culprits else None,
        "confidence": "confirmed", "timeline": timeline,
        "ranks": [{"rank": rank, "host": "elsewhere", "role": "culprit" if rank in culprits else "", "ended": "gone",
                   "last_collective": "all_reduce #3"} for rank in ranks],
    }  # fmt: skip
    (folder / "report.json").write_text(json.dumps(report))


def verdict(shared: Path) -> ClusterVerdict:
    return merged(read_hosts([shared]))


def test_the_host_that_only_lost_its_peer_is_a_victim_however_early_its_clock_says_it_ended(tmp_path: Path) -> None:
    host(tmp_path, "n0", [0, 1], outcome="crash", culprits=[0], cause=LOST.format(0, "10.0.0.2"), at_s=4.0)
    host(tmp_path, "n1", [2, 3], outcome="crash", culprits=[3], cause="Rank 3 died of SIGSEGV", at_s=5.0)
    found = verdict(tmp_path)
    assert (found.outcome, found.host, found.culprit_ranks, found.location) == ("crash", "n1", (3,), "train.py:31")
    assert [(row.rank, row.host, row.role) for row in found.ranks] == [
        (0, "n0", "victim"), (1, "n0", "victim"), (2, "n1", ""), (3, "n1", "culprit"),
    ]  # fmt: skip
    assert summary(found) == [
        "CRASH  On n1: Rank 3 died of SIGSEGV; n0 only lost the connection to it, or waited for it",
        "  at train.py:31",
        "2 hosts, 4 of 4 ranks reported",
    ]


def test_a_healthy_run_is_one_line_and_a_host_that_left_no_report_is_its_own_verdict(tmp_path: Path) -> None:
    for name, ranks in (("n0", [0, 1]), ("n1", [2, 3])):
        host(tmp_path / "well", name, ranks)
    assert summary(verdict(tmp_path / "well")) == ["All 2 hosts ended well", "2 hosts, 4 of 4 ranks reported"]
    cut = tmp_path / "cut"
    host(cut, "n0", [0, 1], outcome="crash", culprits=[0, 1], cause=LOST.format("0, 1", "10.0.0.2"))
    host(cut, "n1", [2, 3], reported=False)
    found = verdict(cut)
    assert (found.outcome, found.silent, found.missing_ranks, found.culprit_ranks, found.confidence) == (
        "no-report", ("n1",), (2, 3), (), "possible",
    )  # fmt: skip
    assert found.words == (
        "No report from host n1 with ranks 2, 3: what happened there is not known; n0 lost the connection to a peer, "
        "or waited for one"
    )
    assert all(row.role == "victim" for row in found.ranks)


def test_of_two_failures_the_first_counts_by_clocks_that_shared_collectives_aligned(tmp_path: Path) -> None:
    for name, ahead_s, first in (("skew", 60.0, "n1"), ("none", 0.0, "n1")):
        shared = tmp_path / name
        host(shared, "n0", [0, 1], outcome="crash", culprits=[0], cause="Rank 0 died", at_s=6.0)
        host(shared, "n1", [2, 3], outcome="crash", culprits=[2], cause="Rank 2 died", at_s=5.0, ahead_s=ahead_s)
        found = verdict(shared)
        assert found.host == first
        assert [("60.0 s ahead" in note) for note in found.notes] == ([True] if ahead_s else [])


def test_a_link_is_named_where_each_end_names_the_other_and_not_where_one_does(tmp_path: Path) -> None:
    for name, other in (("both", "10.0.0.1"), ("one", "10.0.0.9")):
        shared = tmp_path / name
        host(shared, "n0", [0, 1], outcome="crash", culprits=[0], cause=LOST.format(0, "10.0.0.2"), address="10.0.0.1")
        host(shared, "n1", [2, 3], outcome="crash", culprits=[2], cause=LOST.format(2, other), address="10.0.0.2")
    assert verdict(tmp_path / "both").words == (
        "The link between n0 and n1 was lost: each end names the other, and no rank failed"
    )
    assert (verdict(tmp_path / "one").outcome, verdict(tmp_path / "one").host) == ("unknown", "")


def test_a_second_incarnation_and_other_code_on_one_host_are_said(tmp_path: Path) -> None:
    host(tmp_path, "n0", [0, 1], outcome="crash", culprits=[0], cause="Rank 0 died", pid=50)
    host(tmp_path, "n0", [0, 1], pid=60)
    host(tmp_path, "n1", [2, 3], pid=61, code="other")
    assert verdict(tmp_path).outcome == "ok"
    assert verdict(tmp_path).notes == (
        "an earlier incarnation on n0 (pid 50): Rank 0 died",
        "/job/train.py is not the same on all hosts: n0 against n1",
    )


def test_two_reports_of_one_host_are_two_runs_and_the_newest_is_told(tmp_path: Path) -> None:
    for pid, cause in ((50, "Rank 0 died"), (50, "Rank 1 raised")):  # the pid is often 1 in a container
        place = tmp_path / cause.split()[-1]
        host(place, "n0", [0, 1], outcome="crash", culprits=[0], cause=cause, pid=pid, world=2, at_s=5.0,
             ahead_s=600.0 * (cause == "Rank 1 raised"))  # fmt: skip
    old, new = (next((tmp_path / name).iterdir()) for name in ("died", "raised"))
    for folder in (old, new):
        (folder / "host.json").unlink()  # what `run` leaves without --share
    found = merged(read_hosts([old, new, old]))
    assert summary(found) == [
        "CRASH  On elsewhere: Rank 1 raised",
        "  at train.py:31",
        f"  an earlier run on elsewhere (2026-09-21 14:13:20 UTC, {old}): Rank 0 died",
        "1 host, 2 of 2 ranks reported",
    ]
    assert markdown(found).startswith("# Run over 1 host: crash\n")
    assert summary(merged(read_hosts([old, old])))[-1] == "1 host, 2 of 2 ranks reported"


def test_ranks_on_two_hosts_are_a_run_that_moved_or_two_jobs_at_one_time(tmp_path: Path) -> None:
    for name in ("moved", "alone"):
        host(tmp_path / name, "n0", [0, 1], world=2)
        host(tmp_path / name, "n1", [0, 1], world=2, ahead_s=600.0, pid=700)
    moved = next((tmp_path / "moved").glob("*-n0-*")) / "record" / "job.json"
    moved.write_text(json.dumps({**json.loads(moved.read_text()), "ended_s": 60.0}))
    assert verdict(tmp_path / "moved").notes == ("an earlier incarnation on n0 (pid 100): ok",)
    assert summary(verdict(tmp_path / "moved"))[-1] == "1 host, 2 of 2 ranks reported"
    note = verdict(tmp_path / "alone").notes[0]
    assert note.startswith("ranks 0, 1 ran on n0 and on n1 at one time: these were jobs of their own, not one")
    assert summary(verdict(tmp_path / "alone"))[-1] == "2 hosts, 2 of 2 ranks reported"


def test_a_named_folder_that_tells_nothing_is_not_passed_over(tmp_path: Path) -> None:
    host(tmp_path, "n0", [0, 1])
    (well,) = tmp_path.iterdir()
    (tmp_path / "killed" / "record").mkdir(parents=True)
    for name, said in (("none", "no host's report is in"), ("killed", "holds a record and no report of it yet")):
        with pytest.raises(UsageError, match=said):
            read_hosts([well, tmp_path / name])


def test_ten_thousand_ranks_over_1250_hosts_are_one_short_page_in_seconds(tmp_path: Path) -> None:
    for number in range(1250):
        ranks = range(8 * number, 8 * number + 8)
        bad = number == 777
        host(tmp_path, f"n{number}", ranks, outcome="crash", culprits=[ranks[3]] if bad else [ranks[0]], world=10_000,
             cause="Rank 6219 died of SIGSEGV" if bad else LOST.format(ranks[0], "10.0.0.2"))  # fmt: skip
    began = time.monotonic()
    found = verdict(tmp_path)
    page = markdown(found)
    assert time.monotonic() - began < 10
    assert (found.host, found.culprit_ranks, len(found.ranks), len(page.splitlines()) < 100) == (
        "n777",
        (6219,),
        10_000,
        True,
    )


def test_a_folder_without_hosts_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no host's report is in"):
        read_hosts([tmp_path])


def test_run_shares_its_record_and_diagnose_reads_it_also_where_the_share_cannot_be_written(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    job = [sys.executable, "-c", "raise KeyError('lr')"]
    words = [DOCTOR, "run", "--report-dir", str(tmp_path / "own"), "--share", str(shared), "--", *job]
    assert subprocess.run(words, capture_output=True, check=False).returncode == 1
    done = subprocess.run([DOCTOR, "diagnose", str(shared), "--json"], capture_output=True, text=True, check=False)
    told = json.loads(done.stdout)
    assert (done.returncode, told["kind"], told["outcome"], len(told["hosts"])) == (1, "cluster", "crash", 1)
    assert "KeyError: 'lr'" in told["words"]
    (tmp_path / "file").write_text("")
    words = [DOCTOR, "run", "--report-dir", str(tmp_path / "o"), "--share", str(tmp_path / "file"), "--", "true"]
    refused = subprocess.run(words, capture_output=True, text=True, check=False)
    assert refused.returncode == 0
    assert "the report was not shared in" in refused.stderr
