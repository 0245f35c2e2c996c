import functools

import torch.distributed as dist


class Pools:
    """Named sets of ranks; the process group behind a name is made when it is first asked for."""

    def __init__(self):
        self._members = {}

    def declare(self, name, ranks):
        self._members[name] = tuple(ranks)

    def members(self, name):
        return self._members[name]

    def here(self, name):
        return dist.get_rank() in self._members[name]

    @functools.lru_cache(maxsize=None)
    def group(self, name):
        return dist.new_group(list(self._members[name]))
