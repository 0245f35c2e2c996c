"""Finds the largest batch that fits: each size is tried in a child with a limit on its memory."""
import resource
import subprocess
import sys


def fits(batch):
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
    child = subprocess.run([sys.executable, "one_step.py", str(batch)], preexec_fn=limit,
                           stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if child.returncode == 0:
        return True
    if "can't allocate memory" in child.stderr or "MemoryError" in child.stderr:
        return False
    sys.exit(f"batch {batch}: unexpected failure\n{child.stderr}")


good, bad = 64, None
for batch in (2 ** 10, 2 ** 26, 2 ** 12):
    if bad and batch >= bad:
        continue
    if fits(batch):
        good = max(good, batch)
    else:
        bad = batch
print(f"largest batch that fits: {good}")
