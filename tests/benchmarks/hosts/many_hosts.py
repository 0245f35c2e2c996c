"""N hosts, a network namespace each: a clean control, then two hosts unplugged and one link blackholed, named exactly.

    python tests/benchmarks/hosts/many_hosts.py [--hosts 64]

The kernel's one table of neighbours is made large enough for all hosts and set back afterwards. The rounds of torch and
of bandwidth are left out: two cores carry all hosts. JSON on stdout; exit code 1 for a miss.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1]))

from simulated_hosts import SimulatedHosts, why_not  # noqa: E402 - a neighbour of the tests, found by the line above

DOCTOR = [sys.executable, "-c", "from diagnostics.cli import main; main()", "preflight"]


def convicted(hosts: SimulatedHosts, folder: Path) -> dict[str, Any]:
    """Returns who was named by the check of reachability, and the seconds."""
    words = ["--hosts", str(hosts.file), "--remote", hosts.remote, "--skip", "P910,P911", "--json"]
    done = subprocess.run([*DOCTOR, *words], cwd=folder, capture_output=True, text=True, check=False)
    verdict = json.loads(done.stdout)
    findings = [finding for outcome in verdict["outcomes"] for finding in outcome["findings"]]
    seconds = {outcome["code"]: round(outcome["seconds"], 1) for outcome in verdict["outcomes"]}
    return {
        "exit_code": done.returncode,
        "where": sorted(finding["where"] for finding in findings)[:20],
        "codes": sorted({finding["code"] for finding in findings}),
        "reach_s": seconds["P908"],
        "checks_s": round(verdict["seconds"], 1),
    }


def main() -> int:
    """Prints control and drill."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hosts", type=int, default=64)
    count = parser.parse_args().hosts
    if why := why_not():
        print(f"SKIPPED, nothing was measured: {why}")
        return 77
    with tempfile.TemporaryDirectory() as made, SimulatedHosts(count, Path(made)) as hosts, ExitStack() as faults:
        job = Path(made) / "job"
        job.mkdir()
        (job / "train.py").write_text("print('epoch 0')\n")
        control = convicted(hosts, job)
        bad, link = (hosts.names[count // 4], hosts.names[count // 2]), (hosts.names[1], hosts.names[-1])
        for name in bad:
            faults.enter_context(hosts.unplugged(name))
        faults.enter_context(hosts.blackholed(*link))
        drill = convicted(hosts, job)
    exact = control["where"] == [] and drill["where"] == sorted([*bad, " - ".join(link)])
    print(json.dumps({"hosts": count, "control": control, "drill": drill, "exact": exact}, indent=1))
    return 0 if exact else 1


if __name__ == "__main__":
    sys.exit(main())
