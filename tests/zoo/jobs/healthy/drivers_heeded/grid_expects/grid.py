"""Checks that the guard of toy.py ends a training that diverges, and only such a one."""
import subprocess
import sys

EXPECTED = {("0.001", "0.0"): True, ("1000000.0", "0.9"): False}
wrong = []
for job, good in EXPECTED.items():
    code = subprocess.call([sys.executable, "toy.py", *job], stderr=subprocess.DEVNULL)
    print(job, "ended with", code)
    if (code == 0) != good:
        wrong.append(job)
sys.exit(f"not as expected: {wrong}" if wrong else 0)
