"""One exit code is printed and nothing else, the other is a wait status of which the low byte is 0."""
import os
import subprocess
import sys


def command():
    return ["torchrun", "--nproc-per-node=2", "train.py"]


code = subprocess.run(command()).returncode
print(f"ended with {code}")
if code:
    print("that was a failure")
status = os.system("torchrun --nproc-per-node=2 train.py")
sys.exit(status)
