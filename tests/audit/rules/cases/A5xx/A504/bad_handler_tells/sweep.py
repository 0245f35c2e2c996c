"""check=True raises, and the handler prints it: the sweep ends with 0."""
import subprocess


def run(config):
    try:
        subprocess.run(["torchrun", "--nproc-per-node=2", "train.py", config], check=True)
    except subprocess.CalledProcessError as error:
        print(f"{config} has failed: {error}")


for config in ("a.yaml", "b.yaml"):
    run(config)
