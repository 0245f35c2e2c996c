import subprocess
import sys

print("stage 1: train", flush=True)
subprocess.run([sys.executable, "train.py", "--epochs", "3"], stderr=subprocess.DEVNULL)
print("stage 2: publish", flush=True)
with open("published.txt", "w") as f:
    f.write("model v7\n")
print("pipeline complete")
