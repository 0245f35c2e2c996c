import os
import socket
import subprocess
import sys
from pathlib import Path

FORWARD = ("PATH", "HOME", "LANG", "PYTHONPATH", "OMP_NUM_THREADS", "MASTER_ADDR", "MASTER_PORT")


def rank_environment(rank, world):
    env = {name: os.environ[name] for name in FORWARD if name in os.environ}
    env.update(RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(world))
    return env


def main():
    world = int(sys.argv[1])
    os.environ["MASTER_ADDR"] = "127.0.0.1"
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        os.environ["MASTER_PORT"] = str(s.getsockname()[1])
    script = str(Path(__file__).with_name("train.py"))
    children = [subprocess.Popen([sys.executable, script, *sys.argv[2:]], env=rank_environment(rank, world)) for rank in range(world)]
    codes = [child.wait() for child in children]
    return max(abs(code) for code in codes)


if __name__ == "__main__":
    sys.exit(main())
