"""Runs one experiment of the sheet, again after a preemption, and notes it in the sheet."""
import argparse
import json
import logging
import subprocess
import sys
import time
from pathlib import Path

logging.basicConfig(level=logging.INFO, format="[experiment] %(message)s")
log = logging.getLogger("experiment")


class Experiment:
    def __init__(self, name, ranks, attempts, pause):
        self.name, self.ranks, self.attempts, self.pause = name, ranks, attempts, pause
        self.history = []

    def command(self):
        return [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(self.ranks),
                "train.py", "--manifest", f"manifests/{self.name}.json"]

    def run(self):
        for attempt in range(1, self.attempts + 1):
            begin = time.time()
            code = subprocess.call(self.command())
            self.history.append({"attempt": attempt, "code": code, "seconds": round(time.time() - begin, 1)})
            if code == 0:
                break
            log.warning("attempt %d of %d ended, starting again in %d s", attempt, self.attempts, self.pause)
            time.sleep(self.pause)
        return self.history


def note(experiment, sheet):
    rows = json.loads(sheet.read_text()) if sheet.exists() else {}
    rows[experiment.name] = experiment.history
    sheet.write_text(json.dumps(rows, indent=1))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--name", default="vctk_small")
    p.add_argument("--ranks", type=int, default=2)
    p.add_argument("--attempts", type=int, default=2)
    p.add_argument("--pause", type=int, default=1)
    p.add_argument("--sheet", type=Path, default=Path("sheet.json"))
    args = p.parse_args()
    experiment = Experiment(args.name, args.ranks, args.attempts, args.pause)
    experiment.run()
    note(experiment, args.sheet)
    log.info("experiment %s finished after %d attempt(s)", experiment.name, len(experiment.history))


if __name__ == "__main__":
    main()
