import subprocess
import sys


def launch(config):
    return subprocess.Popen(["torchrun", "train.py", config])


def main():
    process = launch(sys.argv[1])
    print("Training completed successfully")
    sys.exit(process.wait())
