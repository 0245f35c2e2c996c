"""Prepares, trains and exports the crop classifier, one stage after the other."""

import os
import shlex
import sys
import tempfile
import time

STAGES = ("prepare", "train", "export")


def command(stage, workdir):
    base = f"--workdir {shlex.quote(workdir)}"
    python = shlex.quote(sys.executable)
    if stage == "train":
        return f"{python} -m torch.distributed.run --standalone --nproc-per-node 2 train.py {base}"
    return f"{python} stages.py {stage} {base}"


def error_check(status, stage, started):
    seconds = time.time() - started
    if status != 0:
        print(f"[pipeline] {stage}: status {status} after {seconds:.1f} s", flush=True)
        sys.exit(status)
    print(f"[pipeline] {stage}: done in {seconds:.1f} s", flush=True)


def main():
    workdir = tempfile.mkdtemp(prefix="crop-")
    for stage in STAGES:
        started = time.time()
        error_check(os.system(command(stage, workdir)), stage, started)


if __name__ == "__main__":
    main()
