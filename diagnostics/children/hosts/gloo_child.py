"""One collective of torch's gloo over all hosts, in a process of its own that is ended at its deadline.

The group stands directly on a prefixed store: `init_process_group` a second time, after one that failed, waits for keys
of the first. The variables that choose gloo's interface are the job's own.
"""

import json
import os
import subprocess
import sys

PROGRAM = """
import datetime, json, os, sys, time
asked = json.loads(sys.argv[1])
began = time.monotonic()
def leave(**row):
    sys.stdout.write("\\nups-doctor-gloo:" + json.dumps(row) + "\\n")
    sys.stdout.flush()
    os._exit(0)
try:
    import torch
    import torch.distributed as dist
except BaseException as error:
    leave(phase="import", error="%s: %s" % (type(error).__name__, error), torch="")
imported = time.monotonic()
phase = "store"
try:
    wait = datetime.timedelta(seconds=asked["seconds"])
    first = asked["number"] == 0
    store = dist.TCPStore(asked["address"], asked["port"], asked["hosts"], first, timeout=wait, wait_for_workers=False)
    store.set("came/%d" % asked["number"], "1")
    phase = "others"
    store.wait(["came/%d" % number for number in range(asked["hosts"])], wait)
    phase = "connect"
    group = dist.ProcessGroupGloo(dist.PrefixStore("round", store), asked["number"], asked["hosts"], wait)
    phase = "all_reduce"
    value = torch.full((1 << 18,), float(asked["number"] + 1))
    met = time.monotonic()
    group.allreduce([value]).wait()
    took = time.monotonic() - met
    right = bool((value == asked["hosts"] * (asked["hosts"] + 1) / 2).all())
    store.set("done/%d" % asked["number"], "1")
    phase = "leave"
    if first:  # it holds the store: the others are let go first
        store.wait(["done/%d" % number for number in range(asked["hosts"])], wait)
    leave(phase="done", error="" if right else "the sum is wrong", torch=torch.__version__, connect_s=met - imported,
          all_reduce_s=took, import_s=imported - began)
except BaseException as error:
    leave(phase=phase, error="%s: %s" % (type(error).__name__, str(error)[:600]), torch=torch.__version__)
"""
MARK = "ups-doctor-gloo:"


def run(python, deadline_s, **asked):
    """Returns the row of this host: the phase that was reached, the error, torch's version, seconds."""
    environ = {key: value for key, value in os.environ.items() if key not in ("RANK", "WORLD_SIZE", "LOCAL_RANK")}
    words = [python or sys.executable, "-c", PROGRAM, json.dumps(asked)]
    pipe = subprocess.PIPE
    child = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, env=environ)
    try:
        out, err = child.communicate(timeout=deadline_s)
    except subprocess.TimeoutExpired:
        child.kill()
        out, err = child.communicate()
        err += b"no end within %.0f s" % deadline_s
    told = [line for line in out.decode("utf-8", "replace").splitlines() if line.startswith(MARK)]
    if told:
        return json.loads(told[-1][len(MARK) :])
    last = (err.decode("utf-8", "replace").strip().splitlines() or ["exit code %s" % child.returncode])[-1]
    return {"phase": "process", "error": last[:600], "torch": ""}
