from dataclasses import dataclass

import torch.distributed as dist


@dataclass
class Layout:
    """World = replicas x parts: each replica's domain is cut into parts."""
    rank: int
    parts: int
    replicas: int
    domain: object
    peers: object

    @property
    def part(self):
        return self.rank % self.parts

    @property
    def replica(self):
        return self.rank // self.parts

    @classmethod
    def build(cls, parts):
        rank, world = dist.get_rank(), dist.get_world_size()
        replicas = world // parts
        domain = peers = None
        for r in range(replicas):
            ranks = [r * parts + p for p in range(parts)]
            g = dist.new_group(ranks)
            if rank in ranks:
                domain = g
        for p in range(parts):
            ranks = [r * parts + p for r in range(replicas)]
            g = dist.new_group(ranks)
            if rank in ranks:
                peers = g
        return cls(rank, parts, replicas, domain, peers)

    def neighbour(self, shift):
        q = self.part + shift
        return self.replica * self.parts + q if 0 <= q < self.parts else None
