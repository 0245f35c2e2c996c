import subprocess
import sys

for lr in ("0.1", "0.01", "0,001"):
    process = subprocess.Popen([sys.executable, "train.py", lr], stderr=subprocess.DEVNULL)
    process.wait()
print("all done")
