"""The handler keeps the failure, or gives it back, or the way behind the run tells it."""
import subprocess
import sys

COMMAND = ["torchrun", "--nproc-per-node=2", "train.py"]
failed = []


def kept(config):
    try:
        subprocess.run([*COMMAND, config], check=True)
    except subprocess.CalledProcessError as error:
        print(error)
        failed.append(config)


def given_back(config):
    try:
        subprocess.run(["torchrun", "train.py", config], check=True)
        return True
    except subprocess.CalledProcessError as error:
        print(error)
    return False


kept("a.yaml")
sys.exit(bool(failed) or not given_back("b.yaml"))
