import json
import logging
import os

import torch
import torch.distributed as dist

log = logging.getLogger("ckpt")


class ShardCheckpointer:
    """Each worker writes the shard of adapters and moments that it holds; no gathering, no pressure on memory."""

    def __init__(self, workdir):
        self.root = os.path.join(workdir, "checkpoints")
        self.rank, self.world_size = dist.get_rank(), dist.get_world_size()

    def _folder(self, step):
        return os.path.join(self.root, f"global_step_{step}")

    def _file(self, step, kind):
        return os.path.join(self._folder(step), f"{kind}_world_size_{self.world_size}_rank_{self.rank}.pt")

    def latest(self):
        marker = os.path.join(self.root, "latest.json")
        if not os.path.exists(marker):
            return None
        with open(marker) as f:
            return json.load(f)["step"]

    def save(self, step, model, optimizer):
        os.makedirs(self._folder(step), exist_ok=True)
        local = {n: p.to_local().detach().clone() for n, p in model.named_parameters() if p.requires_grad}
        torch.save(local, self._file(step, "model"))
        torch.save(optimizer.state_dict(), self._file(step, "optim"))
        dist.barrier()
        if self.rank == 0:
            with open(os.path.join(self.root, "latest.json"), "w") as f:
                json.dump({"step": step}, f)
            log.info("checkpoint of step %d complete", step)
        dist.barrier()

    def load(self, step, model, optimizer):
        local = torch.load(self._file(step, "model"), weights_only=False)
        params = dict(model.named_parameters())
        with torch.no_grad():
            for name, value in local.items():
                params[name].to_local().copy_(value)
        optimizer.load_state_dict(torch.load(self._file(step, "optim"), weights_only=False))
        log.info("resumed from step %d", step)
