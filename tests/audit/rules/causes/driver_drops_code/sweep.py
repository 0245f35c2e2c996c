"""The sweep starts each training and never looks how it ended; the last lines say that all is done."""
import subprocess
import sys


def launch(lr):
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc_per_node=2", "train.py", f"--lr={lr}"]
    process = subprocess.Popen(command)
    process.wait()  # cause


def main():
    for lr in (0.1, 0.01, 0.001):
        launch(lr)
    print("sweep finished successfully")  # cause


if __name__ == "__main__":
    main()
