import sys
import time

import torch
import torch.distributed as dist
import yaml

from grid import Grid
from field import Patch


def main(path):
    with open(path) as f:
        cfg = yaml.safe_load(f)
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    grid = Grid(*cfg["grid"])
    patch = Patch(cfg["width"], grid.row_index, grid.column_index)
    for step in range(cfg["steps"]):
        loss = patch.forward_backward(step)
        grid.average([p.grad for p in patch.parameters()])
        if step >= cfg["halo_from"]:
            patch.couple(grid)
        patch.update(lr=0.05)
        if step % 10 == 0 and dist.get_rank() == 0:
            print(f"step {step} loss {loss:.4f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()
    time.sleep(0.5)


if __name__ == "__main__":
    main(sys.argv[sys.argv.index("--config") + 1])
