import argparse
import json
import logging
import subprocess
import sys
import time
from pathlib import Path

log = logging.getLogger("sweep")


class Job:
    def __init__(self, variant, folder, procs):
        self.variant = variant
        self.log_path = folder / f"{variant['name']}.log"
        self.cmd = [sys.executable, "-m", "torch.distributed.run", "--standalone",
                    "--nproc-per-node", str(procs), "qlearn.py", "--variant", json.dumps(variant)]

    def wait(self):
        with open(self.log_path, "w") as out:
            proc = subprocess.Popen(self.cmd, stdout=out, stderr=subprocess.STDOUT)
            while proc.poll() is None:
                time.sleep(0.2)
        log.info("variant %s ended, status %s, log %s", self.variant["name"], proc.returncode, self.log_path)
        return self.read_score()

    def read_score(self):
        for line in reversed(self.log_path.read_text().splitlines()):
            if line.startswith("success "):
                return float(line.split()[1])
        return None


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--variants", default="variants.json")
    p.add_argument("--procs", type=int, default=2)
    p.add_argument("--out", default="sweep_out")
    args = p.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    folder = Path(args.out)
    folder.mkdir(exist_ok=True)
    table = {}
    for variant in json.loads(Path(args.variants).read_text()):
        table[variant["name"]] = Job(variant, folder, args.procs).wait()
    (folder / "table.json").write_text(json.dumps(table, indent=1))
    best = max((n for n in table if table[n] is not None), key=table.get)
    log.info("best variant: %s", best)


if __name__ == "__main__":
    main()
