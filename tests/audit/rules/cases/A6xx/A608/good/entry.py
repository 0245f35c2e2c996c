import os
import subprocess
import sys

subprocess.run([sys.executable, "train.py"], env={**os.environ, "OMP_NUM_THREADS": "1"}, check=True)
subprocess.run([sys.executable, "train.py"], env={"RANK": "0", "WORLD_SIZE": "1", "LOCAL_RANK": "0"}, check=True)
subprocess.run(["git", "log"], env={"PATH": os.environ["PATH"]}, check=True)
mine = {"OMP_NUM_THREADS": "1"}
mine.update(os.environ)
subprocess.run([sys.executable, "train.py"], env=mine, check=True)
