import os


class Topology:
    def __init__(self):
        self.node = int(os.environ.get("SLURM_NODEID", 0))
        self.proc = int(os.environ.get("SLURM_PROCID", 0))
        self.procs = int(os.environ.get("WORLD_SIZE", 1))

    def owns(self, shard_index):
        return shard_index % self.procs == self.proc
