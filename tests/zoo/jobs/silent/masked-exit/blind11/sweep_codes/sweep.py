import itertools
import os
import subprocess
import sys

GRID = {"lr": [0.1, 0.01], "width": [8, 30]}


def launch(lr, width):
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2",
               "trial.py", "--lr", str(lr), "--width", str(width)]
    return subprocess.Popen(command, env=dict(os.environ, TRIAL=f"lr{lr}-w{width}"))


def main():
    for lr, width in itertools.product(*GRID.values()):
        job = launch(lr, width)
        job.wait()
        print(f"trial lr={lr} width={width} finished", flush=True)
    print("sweep complete")


if __name__ == "__main__":
    main()
