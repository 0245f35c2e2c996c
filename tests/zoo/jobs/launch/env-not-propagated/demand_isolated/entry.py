"""Runs the trainer without the variables of the login shell."""
import os
import subprocess
import sys

clean = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/"), "OMP_NUM_THREADS": "1"}
done = subprocess.run([sys.executable, "train.py", *sys.argv[1:]], env=clean)
sys.exit(done.returncode)
