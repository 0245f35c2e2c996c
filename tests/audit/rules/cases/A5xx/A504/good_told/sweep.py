"""The exit code decides, and the wait status is made an exit code."""
import os
import subprocess
import sys

code = subprocess.run(["torchrun", "--nproc-per-node=2", "train.py"]).returncode
print(f"ended with {code}")
if code:
    raise SystemExit(code)
status = os.system("torchrun --nproc-per-node=2 train.py")
sys.exit(os.waitstatus_to_exitcode(status))
