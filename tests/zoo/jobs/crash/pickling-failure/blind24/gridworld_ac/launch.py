"""Starts one learner (rank 0) and the actors, and waits for them."""
import argparse
import os
import socket
import subprocess
import sys
import time


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--actors", type=int, default=2)
    p.add_argument("--updates", type=int, default=60)
    args = p.parse_args()
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    here = os.path.dirname(os.path.abspath(__file__))
    procs = []
    for rank in range(args.actors + 1):
        env = dict(os.environ, RANK=str(rank), WORLD_SIZE=str(args.actors + 1), MASTER_ADDR="127.0.0.1",
                   MASTER_PORT=str(port), UPDATES=str(args.updates))
        script = "learner.py" if rank == 0 else "actor.py"
        procs.append(subprocess.Popen([sys.executable, script], cwd=here, env=env))
    code = 0
    while procs:
        for proc in list(procs):
            if proc.poll() is None:
                continue
            procs.remove(proc)
            if proc.returncode and not code:
                code = proc.returncode
                for other in procs:
                    other.terminate()
        time.sleep(0.2)
    sys.exit(code if code >= 0 else 128 - code)


if __name__ == "__main__":
    main()
