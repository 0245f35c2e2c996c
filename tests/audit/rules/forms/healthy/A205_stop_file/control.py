from pathlib import Path


class Control:
    def __init__(self, folder):
        self.flag = Path(folder) / "STOP"

    @property
    def stop(self):
        return self.flag.exists()
