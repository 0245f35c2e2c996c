"""Files are written beside the training, so that a slow disk does not stop the step."""
import json
import logging
import os
import queue
import threading
from pathlib import Path

import torch

log = logging.getLogger(__name__)


class BackgroundWriter:
    def __init__(self, folder, depth=8):
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.jobs = queue.Queue(maxsize=depth)
        self.thread = threading.Thread(target=self._run, name="writer")
        self.thread.start()

    def _run(self):
        while True:
            job = self.jobs.get()
            if job is None:
                break
            kind, name, payload = job
            try:
                if kind == "state":
                    part = self.folder / f"{name}.part"
                    torch.save(payload, part)
                    os.replace(part, self.folder / f"{name}.pt")
                else:
                    with open(self.folder / f"{name}.jsonl", "a") as out:
                        out.write(json.dumps(payload) + "\n")
            except OSError as error:
                log.warning("%s not written: %s", name, error)
            finally:
                self.jobs.task_done()

    def state(self, name, state):
        self.jobs.put(("state", name, {key: value.clone() for key, value in state.items()}))

    def row(self, name, **values):
        self.jobs.put(("row", name, values))

    def flush(self):
        self.jobs.join()

    def close(self):
        self.jobs.put(None)
        self.thread.join()
