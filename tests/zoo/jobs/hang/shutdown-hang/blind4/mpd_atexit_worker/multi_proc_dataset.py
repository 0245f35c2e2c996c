"""Runs a dataset in processes of its own and shuffles sequences for it."""
import atexit
import json
import signal
import subprocess
import sys

WORKER = """
import json, random, sys
config = json.loads(sys.stdin.readline())
rng = random.Random(config["seed"])
print("ready", flush=True)
while True:
    request = sys.stdin.readline().strip()
    if request.startswith("epoch"):
        order = list(range(config["num_seqs"]))
        rng.shuffle(order)
        print(json.dumps(order), flush=True)
    else:
        import time
        time.sleep(0.05)
"""


class NonDaemonicProcess:
    """A process that is asked to end when its parent ends."""

    def __init__(self, name, config):
        self.name = name
        self.proc = subprocess.Popen(
            [sys.executable, "-c", WORKER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.tell(json.dumps(config))
        if self.hear() != "ready":
            raise RuntimeError(f"{name} did not start")
        self._at_exit = AtExitCleanupProc(self.proc)

    def tell(self, line):
        self.proc.stdin.write(line + "\n")
        self.proc.stdin.flush()

    def hear(self):
        return self.proc.stdout.readline().strip()


class AtExitCleanupProc:
    def __init__(self, proc):
        self.proc = proc
        atexit.register(self)

    def __call__(self):
        if self.proc.poll() is None:
            self.proc.send_signal(signal.SIGINT)
            self.proc.wait()


class MultiProcDataset:
    def __init__(self, num_seqs, seed):
        self.num_seqs = num_seqs
        self.worker = NonDaemonicProcess("MPD seq order", {"num_seqs": num_seqs, "seed": seed})

    def init_seq_order(self, epoch):
        self.worker.tell(f"epoch {epoch}")
        return json.loads(self.worker.hear())
