"""Real jobs over two hosts that are network namespaces, each with its own doctor, host name and process numbers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from simulated_hosts import SimulatedHosts, why_not

pytestmark = pytest.mark.skipif(bool(why_not()), reason=why_not() or "all is there")
pytest.importorskip("torch")

DOCTOR = str(Path(sys.executable).parent / "ups-doctor")
# As containers have it: each host counts its processes from 1.
OWN_NUMBERS = ("unshare", "--pid", "--fork", "--mount-proc", "sh", "-c", 'exec "$@"', "sh")
SOURCE = """\
import os, sys, time
from datetime import timedelta
import torch, torch.distributed as dist
dist.init_process_group("gloo", timeout=timedelta(seconds=120))
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for name in sorted(os.listdir(sys.argv[1])):
    optimizer.zero_grad()
    model(torch.ones(2, 4)).sum().backward()
    optimizer.step()
    open(f"did-{name}.{dist.get_rank()}", "w").close()
    if len(sys.argv) > 2:
        time.sleep(0.2)
dist.barrier()
time.sleep(0.2)
dist.destroy_process_group()
"""


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimulatedHosts]:
    folder = tmp_path_factory.mktemp("hosts")
    (folder / "nsswitch").write_text("hosts: files\n")  # no name server is there: torch asks it for every address
    with SimulatedHosts(2, folder) as made, ExitStack() as entered:
        for name in made.names:
            entered.enter_context(made.entering(name, f"mount --bind {folder / 'nsswitch'} /etc/nsswitch.conf"))
        yield made


def start(
    hosts: SimulatedHosts, folder: Path, *words: str, stalls_s: tuple[int, int] = (12, 12)
) -> list[subprocess.Popen[bytes]]:
    """Starts one rank a host, each under a doctor of its own."""
    (folder / "train.py").write_text(SOURCE)
    given = {"MASTER_ADDR": hosts.address["n1"], "MASTER_PORT": "29500", "WORLD_SIZE": "2", "OMP_NUM_THREADS": "1",
             "GLOO_SOCKET_IFNAME": "eth0"}  # fmt: skip
    return [
        subprocess.Popen(
            hosts.entered(
                name, *OWN_NUMBERS, DOCTOR, "run", "--report-dir", str(folder / f"own-{name}"), "--share",
                str(folder / "shared"), "--stall-timeout", str(stalls_s[rank]), "--",
                sys.executable, "train.py", *words,
            ),
            cwd=folder, env={**os.environ, **given, "RANK": str(rank)},
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        for rank, name in enumerate(hosts.names)
    ]  # fmt: skip


def page(started: list[subprocess.Popen[bytes]], folder: Path) -> tuple[list[int], dict[str, Any]]:
    """Returns the doctors' exit codes and the page over both hosts."""
    codes = [one.wait(240) for one in started]
    told = subprocess.run([DOCTOR, "diagnose", str(folder / "shared"), "--json"], capture_output=True, check=False)
    return codes, json.loads(told.stdout)


def files(folder: Path, count: int) -> Path:
    folder.mkdir()
    for number in range(count):
        (folder / f"{number:03}").touch()
    return folder


def test_hosts_with_different_numbers_of_files_are_told_apart_though_no_single_host_sees_it(
    hosts: SimulatedHosts, tmp_path: Path
) -> None:
    here, there = files(tmp_path / "six", 6), files(tmp_path / "four", 4)
    data = tmp_path / "data"
    data.mkdir()
    with (
        hosts.entering("n1", f"mount --bind {here} {data}"),
        hosts.entering("n2", f"mount --bind {there} {data}"),
    ):
        codes, found = page(start(hosts, tmp_path, str(data), stalls_s=(12, 60)), tmp_path)
    assert codes == [124, 1], "n1's doctor ends its rank first, and n2's rank loses its peer"
    alone = json.loads((tmp_path / "own-n2" / "report.json").read_text())
    assert alone["root_cause"].startswith(
        "Rank 1 lost a peer at train.py:14, none of those watched here (1 of the 2 ranks run elsewhere): RuntimeError"
    )
    assert (alone["culprit_ranks"], alone["victim_ranks"], alone["confidence"]) == ([], [1], "likely")
    assert (found["outcome"], found["failure_class"], found["host"], found["location"]) == (
        "hang", "collective-missing", "n2", "train.py:7",
    )  # fmt: skip
    assert found["culprit_ranks"] == [1]
    assert found["words"].endswith("; n1 only lost the connection to it, or waited for it")
    assert {(row["rank"], row["host"], row["role"]) for row in found["ranks"]} == {
        (0, "n1", "victim"), (1, "n2", "culprit"),
    }  # fmt: skip


def test_a_link_that_is_cut_under_a_healthy_job_is_named_and_no_rank_is_blamed(
    hosts: SimulatedHosts, tmp_path: Path
) -> None:
    started = start(hosts, tmp_path, str(files(tmp_path / "data", 200)), "slowly")
    end = time.monotonic() + 120
    while not (tmp_path / "did-003.1").exists():
        assert time.monotonic() < end, "the job did not begin"
        time.sleep(0.05)
    with hosts.unplugged("n2"):
        codes, found = page(started, tmp_path)
    assert codes == [124, 124]
    assert (found["outcome"], found["failure_class"], found["culprit_ranks"]) == ("link", "network-lost", [])
    assert "The network carries nothing between n1 (10.77.0.1) and n2 (10.77.0.2)" in found["words"]
    assert found["confidence"] in ("confirmed", "likely")


def test_a_healthy_job_over_hosts_is_told_so(hosts: SimulatedHosts, tmp_path: Path) -> None:
    codes, found = page(start(hosts, tmp_path, str(files(tmp_path / "data", 6)), stalls_s=(90, 90)), tmp_path)
    assert codes == [0, 0]
    assert (found["outcome"], found["words"], found["notes"]) == ("ok", "All 2 hosts ended well", [])
