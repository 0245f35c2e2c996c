import json
import pathlib

import torch.distributed as dist


class CheckpointManager:
    """Every node keeps the small training state on its own disk."""

    def __init__(self, root):
        self.rank = dist.get_rank()
        self.state_path = pathlib.Path(root) / f"node{self.rank}" / "train_state.json"

    def load(self):
        if not self.state_path.exists():
            return {"step": 0, "tokens": 0}
        box = [json.loads(self.state_path.read_text()) if self.rank == 0 else None]
        dist.broadcast_object_list(box, src=0)
        return box[0]

    def save(self, state):
        self.state_path.parent.mkdir(parents=True, exist_ok=True)
        self.state_path.write_text(json.dumps(state))
