import json
import sys
import time
from pathlib import Path

import torch.distributed as dist


class Workspace:
    def __init__(self, folder):
        self.folder = Path(folder)
        self.state = self.folder / "state.json"

    def finished(self):
        return self.state.exists() and json.loads(self.state.read_text()).get("finished", False)

    def prepare_run(self, config):
        if dist.get_rank() == 0:  # cause
            if self.finished():  # cause
                print(f"{self.folder} is complete, nothing to do")
                sys.exit(0)  # cause
            self.folder.mkdir(parents=True, exist_ok=True)
            (self.folder / "config.json").write_text(json.dumps(config))
        dist.barrier()  # cause

    def finish(self, epochs):
        if dist.get_rank() == 0:
            self.state.write_text(json.dumps({"finished": True, "epochs": epochs, "at": time.time()}))
