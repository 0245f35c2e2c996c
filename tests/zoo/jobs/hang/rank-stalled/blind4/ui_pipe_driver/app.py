"""The back end of a training page: starts a run and keeps what it said."""
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field

HERE = os.path.dirname(os.path.abspath(__file__))


@dataclass
class TrainRequest:
    nproc: int = 2
    steps: int = 400
    log_every: int = 1


@dataclass
class TrainState:
    process: subprocess.Popen | None = None
    lines: list = field(default_factory=list)
    status: str = "idle"


def resolve_train_argv(request, config_path):
    return [
        sys.executable, "-m", "torch.distributed.run", "--standalone",
        "--nproc-per-node", str(request.nproc),
        os.path.join(HERE, "trainer.py"), "--config", config_path,
    ]


class TrainService:
    def __init__(self):
        self.state = TrainState()

    def start_training(self, request):
        handle, path = tempfile.mkstemp(suffix=".json", prefix="soup-")
        with os.fdopen(handle, "w") as out:
            json.dump({"steps": request.steps, "log_every": request.log_every}, out)
        self.state.process = subprocess.Popen(
            resolve_train_argv(request, path),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.state.status = "running"

    def finish(self):
        process = self.state.process
        code = process.wait()
        self.state.status = "done" if code == 0 else "failed"
        return code

    def logs(self):
        self.state.lines += self.state.process.stdout.read().splitlines()
        return self.state.lines


def main():
    service = TrainService()
    service.start_training(TrainRequest())
    code = service.finish()
    for line in service.logs()[-5:]:
        print(line)
    print(f"run {service.state.status}")
    return code


if __name__ == "__main__":
    sys.exit(main())
