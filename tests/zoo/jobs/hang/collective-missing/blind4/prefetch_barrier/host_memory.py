"""What this process may still take of the host's memory."""
import os
from dataclasses import dataclass, field


@dataclass
class HostMemory:
    total_mb: int
    taken: dict = field(default_factory=dict)

    @classmethod
    def of_node(cls, local_world):
        total = int(os.environ.get("NODE_MEMORY_MB", "1200"))
        return cls(total // local_world)

    def reserve(self, what, mb):
        self.taken[what] = mb

    @property
    def available_mb(self):
        return self.total_mb - sum(self.taken.values())
