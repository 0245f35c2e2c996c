import subprocess
import sys
import time
from pathlib import Path


def main():
    server = subprocess.Popen([sys.executable, "server.py", "server.port"])
    try:
        while not Path("server.port").exists():
            time.sleep(0.05)
        argv = ["torchrun", "--standalone", "--nproc-per-node", "2", "train.py", Path("server.port").read_text()]
        sys.exit(subprocess.run(argv).returncode)
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
