import os
import subprocess
import sys

clean = {"PATH": os.environ["PATH"], "HOME": "/"}
done = subprocess.run([sys.executable, "train.py", *sys.argv[1:]], env=clean, check=False)
sys.exit(done.returncode)
