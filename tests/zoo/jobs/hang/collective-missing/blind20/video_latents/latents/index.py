import json
import os

import torch.distributed as dist


def _scan(catalog, window):
    table = []
    for index, (name, count) in enumerate(catalog.entries):
        for start in range(0, max(1, min(count, 96) - window + 1), window):
            table.append({"clip": index, "name": name, "start": start})
    return table


def load_index(catalog, window, path):
    """The table of windows; made once and read by everybody afterwards."""
    if os.path.exists(path):
        with open(path) as handle:
            return json.load(handle)
    if dist.get_rank() == 0:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        partial = path + ".part"
        with open(partial, "w") as handle:
            json.dump(_scan(catalog, window), handle)
        os.replace(partial, path)
    dist.barrier()
    return load_index(catalog, window, path)
