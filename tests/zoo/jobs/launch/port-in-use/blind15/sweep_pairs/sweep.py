"""Two settings side by side on one machine; the better one is written to best.json."""
import argparse
import itertools
import json
import logging
import subprocess
import sys
from pathlib import Path

log = logging.getLogger("sweep")


class Job:
    def __init__(self, index, setting, opts):
        self.index, self.setting = index, setting
        self.result = Path(opts.out) / f"job-{index}.json"
        self.command = [sys.executable, "-m", "torch.distributed.run", "--nnodes", "1", "--nproc-per-node", str(opts.procs),
                        "--master-addr", opts.address, "--master-port", str(opts.port),
                        "fit.py", "--result", str(self.result)]
        for key, value in setting.items():
            self.command += [f"--{key}", str(value)]

    def start(self):
        log.info("job %d: %s", self.index, self.setting)
        self.process = subprocess.Popen(self.command)
        return self

    def finish(self):
        code = self.process.wait()
        if code != 0:
            log.error("job %d ended with %d", self.index, code)
        return code


def grid(spec):
    keys = sorted(spec)
    for values in itertools.product(*(spec[k] for k in keys)):
        yield dict(zip(keys, values))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--grid", default='{"lr": [0.003, 0.01]}')
    p.add_argument("--procs", type=int, default=1)
    p.add_argument("--address", default="127.0.0.1")
    p.add_argument("--port", type=int, default=29755)
    p.add_argument("--out", default="results")
    opts = p.parse_args()
    logging.basicConfig(level=logging.INFO, format="sweep: %(message)s")
    Path(opts.out).mkdir(exist_ok=True)
    jobs = [Job(i, s, opts).start() for i, s in enumerate(grid(json.loads(opts.grid)))]
    codes = [job.finish() for job in jobs]
    if any(codes):
        sys.exit(1)
    results = [json.loads(job.result.read_text()) for job in jobs]
    Path("best.json").write_text(json.dumps(min(results, key=lambda r: r["loss"])))


if __name__ == "__main__":
    main()
