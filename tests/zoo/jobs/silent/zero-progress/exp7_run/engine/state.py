import json
import os


class RunState:
    def __init__(self, folder):
        self.path = os.path.join(folder, "state.json")
        self.epoch = 0
        self.best = None

    def load(self):
        if os.path.exists(self.path):
            with open(self.path) as f:
                stored = json.load(f)
            self.epoch, self.best = stored["epoch"], stored["best"]
        return self

    def save(self):
        with open(self.path, "w") as f:
            json.dump({"epoch": self.epoch, "best": self.best}, f)
