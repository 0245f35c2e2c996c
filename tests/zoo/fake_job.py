"""A trainer's job adapter whose answers are wrong in one chosen way: `python -m fake_job VERB CONFIG --result FILE`.

CONFIG is a text file that holds the name of the fault, `healthy` for none. Twelve samples; each fault is
what a real training script does: no distributed sampler, no set_epoch, a rank that dies...
"""

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

SAMPLES = 12


def order(epoch):
    return random.Random(epoch).sample(range(SAMPLES), SAMPLES)


def data(fault, rank, world_size):
    epochs = [order(0)[rank::world_size], order(1)[rank::world_size]]
    files = [{"path": "/data/train.h5", "error": ""}]
    if fault == "no-sampler":
        epochs = [order(0), order(1)]
    if fault == "no-set-epoch":
        epochs[1] = epochs[0]
    if fault == "unshuffled":
        epochs = [list(range(SAMPLES))[rank::world_size]] * 2
    if fault == "padded" and rank == 1:
        epochs[0] = [*epochs[0][:-1], order(0)[0]]
    if fault == "half-missing":
        epochs = [part[: len(part) // 2] for part in epochs]
    if fault == "missing-file":
        error = "there is no data file /data/train.h5"
        files = [{"path": "/data/train.h5", "error": error, "kind": "missing", "fix": "make-data --config CONFIG"}]
    if fault == "dies" and rank == 1:
        print("reading", flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    if fault == "raises" and rank == 1:
        raise ValueError("sample 7 has no label")
    if fault == "raises" and rank == 0:
        time.sleep(600)  # what a peer does that waits for it
    if fault == "hangs" and rank == 1:
        time.sleep(600)
    if fault == "refuses":
        print("unknown key 'bacth_size' in job.yaml:3; did you mean 'batch_size'?", file=sys.stderr)
        sys.exit(2)
    planned = {}
    if fault.startswith("in-shares"):  # sample 0 is due twice, sample 1 not at all; the plan is not kept by every job
        plans = [[0 if sample == 1 else sample for sample in order(epoch)] for epoch in (0, 1)]
        planned = {sample: plans[0].count(sample) for sample in plans[0]}
        plans = [order(0), order(1)] if fault == "in-shares-not" else plans
        epochs = [plan[rank::world_size] for plan in plans]
    numbered = [{"epoch": number, "indices": part} for number, part in enumerate(epochs)]
    size = SAMPLES - 2 if fault == "other-files" and rank == 1 else SAMPLES
    answer = {"dataset_size": size, "epochs": numbered, "files": files, "workers": 2, "seconds": 0.1}
    return {**answer, "planned": planned} if planned else answer


def dry_run(fault, steps, nproc):
    answer = {
        "steps": steps,
        "samples_per_s": 400.0,
        "peak_memory_bytes": 1 << 28,
        "data_wait_share": 0.1,
        "checkpoint_bytes": 1000,
        "checkpoint_reread": True,
        "world_size": nproc,
    }
    if fault == "fails":
        print("step 2\nloss is nan on rank 1", file=sys.stderr)
        sys.exit(5)
    faults = {
        "starved": {"data_wait_share": 0.62},
        "lost-checkpoint": {"checkpoint_reread": "it differs in optimizer.state"},
        "greedy": {"peak_memory_bytes": 1 << 50},
        "no-steps": {"steps": 0},
    }
    return {**answer, **faults.get(fault, {})}


def main(verb, config, options):
    fault = Path(config).read_text().strip()
    rank, world_size = int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1"))
    if fault == "silent":
        return
    answer = (
        data(fault, rank, world_size)
        if verb == "data"
        else dry_run(fault, int(options["--steps"]), int(options.get("--nproc", "2")))
    )
    Path(options["--result"].replace("{rank}", str(rank))).write_text(json.dumps(answer))


if __name__ == "__main__":
    rest = sys.argv[3:]
    main(sys.argv[1], sys.argv[2], dict(zip(rest[::2], rest[1::2], strict=True)))
