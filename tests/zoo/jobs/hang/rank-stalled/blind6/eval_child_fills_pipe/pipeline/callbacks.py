import json
import subprocess
import sys
import tempfile
from pathlib import Path

import torch.distributed as dist

SCORER = Path(__file__).with_name("score.py")


class Callback:
    def on_epoch_end(self, trainer, epoch):
        pass


class Printer(Callback):
    def on_epoch_end(self, trainer, epoch):
        if dist.get_rank() == 0:
            print(f"epoch {epoch} loss {trainer.loss:.4f}", flush=True)


class ExternalEval(Callback):
    """Scores the weights with the official script, in a process of its own, on rank 0; the others wait."""

    def __init__(self, every):
        self.every = every

    def on_epoch_end(self, trainer, epoch):
        if (epoch + 1) % self.every == 0:
            if dist.get_rank() == 0:
                trainer.score = self.score(trainer, epoch)
            dist.barrier()

    def score(self, trainer, epoch):
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "score.json"
            command = [sys.executable, str(SCORER), "--items", str(300 * (epoch + 1)), "--out", str(out)]
            child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if child.wait() != 0:
                raise RuntimeError(child.stdout.read())
            return json.loads(out.read_text())["score"]
