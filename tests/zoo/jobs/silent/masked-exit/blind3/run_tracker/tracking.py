import json
import os
import tempfile
import time


class RunContext:
    """Collects what a run reports and writes its summary when the run is over."""

    def __init__(self, name, rank):
        self.name, self.rank = name, rank
        self.summary = {"name": name, "status": "running", "metrics": []}

    def __enter__(self):
        self.started = time.time()
        return self

    def log(self, **metrics):
        self.summary["metrics"].append(metrics)
        if self.rank == 0:
            text = " ".join(f"{k}={v:.4g}" for k, v in metrics.items())
            print(f"[{self.name}] {text}", flush=True)

    def close(self, status):
        self.summary.update(status=status, seconds=round(time.time() - self.started, 2))
        if self.rank == 0:
            handle, path = tempfile.mkstemp(prefix=f"{self.name}-", suffix=".json")
            with os.fdopen(handle, "w") as file:
                json.dump(self.summary, file)
            print(f"[{self.name}] summary written to {path}", flush=True)
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        return self.close("failed" if exc_type else "finished")
