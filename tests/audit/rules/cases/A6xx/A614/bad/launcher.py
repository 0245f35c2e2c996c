import os
import subprocess
import sys

for rank in range(2):
    env = {**os.environ, "RANK": str(rank), "WORLD_SIZE": "2", "MASTER_PORT": str(29500 + rank)}
    subprocess.Popen([sys.executable, "train.py"], env=env)
for rank in range(2):
    env = dict(os.environ, LOCAL_RANK=str(rank), MASTER_PORT=f"2950{rank}")
    subprocess.Popen([sys.executable, "train.py"], env=env)
