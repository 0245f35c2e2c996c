import json
import os
import shutil

import torch
import torch.distributed as dist

METADATA = ".metadata"


class StagedCheckpointer:
    """Every rank writes to fast local storage, then the node leader promotes the files."""

    def __init__(self, stage_root, final_root, cfg, local_rank):
        self.stage_root, self.final_root = stage_root, final_root
        self.cfg, self.is_node_leader = cfg, local_rank == 0

    def _write_shard(self, stage_path, state):
        rank, world_size = dist.get_rank(), dist.get_world_size()
        mine = {k: v for i, (k, v) in enumerate(state.items()) if i % world_size == rank}
        torch.save(mine, os.path.join(stage_path, f"__{rank}_0.distcp"))
        if rank == 0:
            with open(os.path.join(stage_path, METADATA), "w") as handle:
                json.dump({"keys": list(state), "world_size": world_size}, handle)

    def _promote(self, stage_path, final_path):
        os.makedirs(final_path, exist_ok=True)
        for name in sorted(os.listdir(stage_path)):
            shutil.copyfile(os.path.join(stage_path, name), os.path.join(final_path, name))

    def _remember(self, name):
        with open(os.path.join(self.final_root, self.cfg.pointer), "w") as handle:
            handle.write(name)

    def save(self, name, state):
        stage_path = os.path.join(self.stage_root, name)
        final_path = os.path.join(self.final_root, name)
        os.makedirs(stage_path, exist_ok=True)
        dist.barrier()
        try:
            self._write_shard(stage_path, state)
            dist.barrier()
            if self.is_node_leader:
                self._promote(stage_path, final_path)
                self._remember(name)
            dist.barrier()
        finally:
            if self.is_node_leader:
                shutil.rmtree(stage_path, ignore_errors=True)
            dist.barrier()
