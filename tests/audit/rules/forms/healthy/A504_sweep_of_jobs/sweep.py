import subprocess
import sys
from dataclasses import dataclass


@dataclass
class Job:
    lr: float
    seed: int

    def command(self):
        return [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", "train.py", "--lr", str(self.lr)]


class Sweep:
    def __init__(self, jobs):
        self.jobs = jobs

    def execute(self, job):
        result = subprocess.run(job.command(), capture_output=True, text=True, check=True)
        print(result.stdout[-500:])

    def run(self):
        for job in self.jobs:
            self.execute(job)
        print("done:", len(self.jobs))


if __name__ == "__main__":
    Sweep([Job(0.1, s) for s in range(3)]).run()
