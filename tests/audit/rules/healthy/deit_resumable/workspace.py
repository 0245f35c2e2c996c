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
        done = [self.finished() if dist.get_rank() == 0 else None]
        dist.broadcast_object_list(done, src=0)
        if done[0]:
            dist.destroy_process_group()
            sys.exit(0)
        if dist.get_rank() == 0:
            self.folder.mkdir(parents=True, exist_ok=True)
            (self.folder / "config.json").write_text(json.dumps(config))
        dist.barrier()

    def finish(self, epochs):
        if dist.get_rank() == 0:
            self.state.write_text(json.dumps({"finished": True, "epochs": epochs, "at": time.time()}))
