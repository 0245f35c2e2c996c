import os
import tempfile

import torch
import torch.distributed as dist
from torch.distributed.checkpoint.state_dict import StateDictOptions, get_model_state_dict


class CheckpointSaver:
    def __init__(self, folder, rank):
        run_id = os.environ.get("TORCHELASTIC_RUN_ID", "local")
        self.folder = os.path.join(tempfile.gettempdir(), f"{folder}-{run_id}")
        self.rank = rank

    def save(self, model, epoch, loss):
        dist.barrier()
        options = StateDictOptions(full_state_dict=True, cpu_offload=True)
        state = get_model_state_dict(model, options=options)
        if self.rank == 0:
            os.makedirs(self.folder, exist_ok=True)
            torch.save(state, os.path.join(self.folder, f"t5-{epoch}.pt"))
            print(f"--> saved epoch {epoch}, best validation loss {loss:.4f}", flush=True)
