import subprocess
import sys


def launch(config):
    return subprocess.Popen(["torchrun", "train.py", config])


def main():
    process = launch(sys.argv[1])
    print("Training started successfully")
    code = process.wait()
    if code == 0:
        print("Training completed successfully")
    sys.exit(code)


def polled():
    process = launch(sys.argv[1])
    while process.poll() is None:
        pass
    print("Training completed successfully")
    process.wait()
