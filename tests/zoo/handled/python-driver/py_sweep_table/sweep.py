import itertools
import subprocess
import sys

rows = []
for lr, width in itertools.product(["0.01", "1e9"], ["4", "0"]):
    done = subprocess.run([sys.executable, "train.py", lr, width], capture_output=True, text=True)
    result = done.stdout.strip() if done.returncode == 0 else done.stderr.strip().splitlines()[-1]
    rows.append((lr, width, done.returncode, result))

print(f"{'lr':>6} {'width':>5} {'code':>4}  result")
for lr, width, code, result in rows:
    print(f"{lr:>6} {width:>5} {code:>4}  {result}")
best = [row for row in rows if row[2] == 0]
print(f"{len(best)} of {len(rows)} trials are usable")
sys.exit(0 if best else 1)
