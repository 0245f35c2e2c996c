"""Aggregates running metrics over the ranks in the background."""
import threading
import time

import torch
import torch.distributed as dist

# gloo work must not be issued from two threads at once
COMM_LOCK = threading.Lock()


class MetricReporter(threading.Thread):
    def __init__(self, group, meter, every=8):
        super().__init__(daemon=True, name="metric-reporter")
        self.group, self.meter, self.every = group, meter, every
        self.done = threading.Event()
        self.reported = 0

    def run(self):
        while not self.done.is_set():
            if self.meter.count >= (self.reported + 1) * self.every:
                self.report()
            time.sleep(0.002)

    def report(self):
        values = torch.tensor([self.meter.total, float(self.meter.count)])
        with COMM_LOCK:
            dist.all_reduce(values, group=self.group)
        self.reported += 1
        if dist.get_rank() == 0:
            print(f"[metrics] #{self.reported} mean loss {values[0] / values[1]:.4f}", flush=True)


class Meter:
    def __init__(self):
        self.total, self.count = 0.0, 0

    def add(self, value):
        self.total += value
        self.count += 1
