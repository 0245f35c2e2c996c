"""Run records go through a queue to a writer process, so that training does not wait for the disk."""
import json
import multiprocessing as mp
import os
import time

import numpy as np


def _writer(queue, folder):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "metrics.jsonl"), "a") as f:
        while True:
            record = queue.get()
            kind = record.pop("kind")
            if kind == "array":
                np.save(os.path.join(folder, f"{record['name'].replace('/', '_')}.{record['step']}.npy"), record["value"])
                continue
            f.write(json.dumps({"kind": kind, **record}) + "\n")
            f.flush()
            if kind == "summary":
                break


class Tracker:
    def __init__(self, folder, enabled=True):
        self.enabled = enabled
        self.folder = folder
        if enabled:
            ctx = mp.get_context("fork")
            self.queue = ctx.Queue()
            self.process = ctx.Process(target=_writer, args=(self.queue, folder), daemon=True)
            self.process.start()

    def log(self, step, **values):
        if self.enabled:
            self.queue.put({"kind": "metrics", "step": step, "time": time.time(), **values})

    def log_array(self, step, name, value):
        if self.enabled:
            self.queue.put({"kind": "array", "step": step, "name": name, "value": np.asarray(value)})

    def summary(self, **values):
        if self.enabled:
            self.queue.put({"kind": "summary", **values})


class NullTracker:
    def log(self, *a, **k):
        pass

    log_array = summary = log
