import json
from pathlib import Path


class RunRecorder:
    def __init__(self, folder, rank):
        self.path = Path(folder) / f"run_rank{rank}.json"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.state = {"losses": [], "parts": []}

    def note(self, **values):
        for key, value in values.items():
            self.state.setdefault(key, []).append(value)

    def dump(self):
        self.path.write_text(json.dumps(self.state, indent=1))
