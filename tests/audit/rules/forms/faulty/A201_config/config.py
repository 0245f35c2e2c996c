import argparse
from dataclasses import dataclass
import os


@dataclass
class RunConfig:
    steps: int = 10
    verbose: bool = False
    writer: bool = False


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=10)
    args = parser.parse_args()
    return RunConfig(steps=args.steps, writer=os.environ["RANK"] == "0")
