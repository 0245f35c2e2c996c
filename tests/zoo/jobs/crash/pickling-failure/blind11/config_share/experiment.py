import logging
import threading


class Tracker:
    def __init__(self, project):
        self.project = project
        self.lock = threading.Lock()
        self.rows = []

    def log(self, **row):
        with self.lock:
            self.rows.append(row)


class Experiment(dict):
    def attach(self, tracker):
        self["tracker"] = tracker
        self["log_level"] = logging.INFO
        return self
