import json
import os
import sys

import torch.distributed as dist

from ddpm.run import Run

DEFAULTS = dict(seed=0, size=16, width=20, dropout=0.2, images=768, batch_size=16, lr=1e-3, epochs=12, log_every=24, preview_every=48, folder="preview")


def main(argv):
    cfg = dict(DEFAULTS)
    for pair in argv:
        k, v = pair.split("=", 1)
        cfg[k] = json.loads(v)
    dist.init_process_group("gloo")
    Run(int(os.environ["RANK"]), cfg).fit()
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1:])
