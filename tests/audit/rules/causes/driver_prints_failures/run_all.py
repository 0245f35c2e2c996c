"""A sweep whose failed trainings are printed: it ends with 0, whatever happened."""
import argparse
import subprocess
import sys


def run_training(config, gpus):
    command = ["torchrun", f"--nproc-per-node={gpus}", "train.py", "--config", config]
    try:
        subprocess.run(command, check=True)
    except subprocess.CalledProcessError as error:  # cause
        print(f"An error occurred during training of {config}: {error}")
    except FileNotFoundError:
        print("torchrun was not found")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("configs", nargs="+")
    parser.add_argument("--gpus", type=int, default=2)
    options = parser.parse_args()
    for config in options.configs:
        print(f"=== {config} ===")
        run_training(config, options.gpus)
    print("all trainings are done")


if __name__ == "__main__":
    sys.exit(main())
