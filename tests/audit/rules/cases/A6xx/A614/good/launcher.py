import os
import subprocess
import sys

for job in range(2):
    port = 29500 + job
    for rank in range(2):
        env = {**os.environ, "RANK": str(rank), "WORLD_SIZE": "2", "MASTER_PORT": str(port)}
        subprocess.Popen([sys.executable, "train.py"], env=env)
