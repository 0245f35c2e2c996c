"""Failures on a real Slurm of 2 or 4 nodes on this machine: each named by host, rank and line; the healthy twin not.

    make cluster-test                    NODES=4 for four

A machine without Slurm's packages is told so, aloud, with exit code 77: that is no pass.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from slurm_cluster import SlurmCluster, why_not

HERE = Path(__file__).parent
BIN = Path(sys.executable).parent
SKIPPED = 77
OVER = ("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY")


@dataclass(frozen=True)
class Drill:
    """What rank 1 does, and what the page has to say: outcome, culprits, line. Rank 1 is on n2."""

    what: str
    outcome: str
    line: str = ""
    words: str = ""


DRILLS = (
    Drill("healthy", "ok"),
    Drill("segv", "crash", "job.py:19", "SIGSEGV"),
    Drill("kill", "crash", "job.py:21", "SIGKILL"),
    Drill("raise", "crash", "job.py:23", "bad sample 17"),
    Drill("hang", "hang", "job.py:25", "job.py:26: it sleeps"),
)


def step(cluster: SlurmCluster, shared: Path, drill: Drill, port: int) -> str:
    """Returns the script of one job: a doctor a node, torchrun under it."""
    return (
        "#!/bin/bash\n"
        f"#SBATCH --nodes={len(cluster.names)} --ntasks-per-node=1 --time=5 --output={shared}.out\n"
        f"srun --kill-on-bad-exit=0 bash -c 'exec {BIN}/ups-doctor run --report-dir {shared}-own-$SLURM_NODEID "
        f"--stall-timeout 6 --share {shared} -- {BIN}/torchrun --nnodes $SLURM_NNODES --node-rank $SLURM_NODEID "
        f"--nproc-per-node 1 --master-addr 127.0.0.1 --master-port {port} {HERE}/job.py {drill.what} 1'\n"
    )


def run_drill(cluster: SlurmCluster, drill: Drill, port: int) -> str:
    """Returns what is wrong with what was told of a drill, "" for nothing."""
    shared = cluster.folder / drill.what
    script = cluster.folder / f"{drill.what}.sh"
    script.write_text(step(cluster, shared, drill, port))
    job = cluster.run("sbatch", "--parsable", str(script)).stdout.strip()
    state = cluster.wait_for(job, OVER, 180)
    told = cluster.run(f"{BIN}/ups-doctor", "diagnose", str(shared), "--json")
    found = json.loads(told.stdout) if told.stdout.startswith("{") else {"words": told.stderr, "outcome": "no page"}
    print(f"{drill.what:12} Slurm says {state:10} the page: {found['outcome']}: {found['words']}", flush=True)
    expected = {
        "outcome": drill.outcome,
        "host": "" if drill.outcome == "ok" else cluster.names[1],
        "culprit_ranks": [] if drill.outcome == "ok" else [1],
    }
    wrong = [f"{key} is {found.get(key)!r}" for key, value in expected.items() if found.get(key) != value]
    wrong += [] if str(found.get("location") or "").endswith(drill.line) else [f"location is {found.get('location')!r}"]
    wrong += [] if drill.words in found["words"] else [f"{drill.words!r} is not said"]
    wrong += [] if len(found.get("ranks", ())) == len(cluster.names) else [f"{len(found.get('ranks', ()))} ranks told"]
    return "; ".join(wrong)


def preemption(cluster: SlurmCluster, port: int) -> str:
    """A job of higher priority takes the nodes; the first is put back, runs again, and both incarnations are known."""
    shared = cluster.folder / "preempted"
    drill = Drill("none", "ok")
    script = cluster.folder / "preempted.sh"
    text = step(cluster, shared, drill, port).replace("none 1'", "none 1 60'")
    text = text.replace("-own-", "-own-${SLURM_RESTART_COUNT:-0}-")
    script.write_text(text.replace("--time=5", "--time=5 --exclusive --requeue --open-mode=append"))
    job = cluster.run("sbatch", "--parsable", "-p", "low", str(script)).stdout.strip()
    cluster.wait_for(job, ("RUNNING",))
    end = time.monotonic() + 60
    while len(list(shared.glob("*/host.json"))) < len(cluster.names) and time.monotonic() < end:
        time.sleep(0.2)
    nodes = f"-N{len(cluster.names)}"
    cluster.run("srun", "-p", "high", nodes, "--exclusive", "sleep", "1", within_s=120)
    cluster.run("scontrol", "update", f"jobid={job}", "starttime=now")
    state = cluster.wait_for(job, OVER, 240)
    told = cluster.run(f"{BIN}/ups-doctor", "diagnose", str(shared), "--json")
    found = json.loads(told.stdout)
    print(
        f"{'preemption':12} Slurm says {state:10} the page: {found['outcome']}, run {found['run_id']}; {found['notes']}"
    )
    if state != "COMPLETED" or found["outcome"] != "ok":
        return f"the second incarnation: {state}, {found['outcome']}"
    known = f"slurm{job}" in " ".join(found["notes"]) and found["run_id"] == f"slurm{job}.1"
    return "" if known else "the two incarnations are not told apart"


def main() -> int:
    """Runs all drills; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=int, default=2)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    if why := why_not():
        print(f"SKIPPED, nothing was tested: {why}")
        return SKIPPED
    wrong = {}
    with SlurmCluster(options.nodes) as cluster:
        for number, drill in enumerate(DRILLS):
            if not options.only or options.only == drill.what:
                wrong[drill.what] = run_drill(cluster, drill, 29650 + number)
        if not options.only or options.only == "preemption":
            wrong["preemption"] = preemption(cluster, 29660)
    for name, words in wrong.items():
        if words:
            print(f"WRONG {name}: {words}")
    good = sum(not words for words in wrong.values())
    print(f"{good} of {len(wrong)} drills on {options.nodes} nodes as they should be")
    return 1 if any(wrong.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
