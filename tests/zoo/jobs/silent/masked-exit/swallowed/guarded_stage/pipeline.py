import subprocess
import sys

from stages import stage


def train(classes):
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    subprocess.run([*launcher, "train.py", str(classes)], check=True)


with stage("train"):
    train(int(sys.argv[1]))
