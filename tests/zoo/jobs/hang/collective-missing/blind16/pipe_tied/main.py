import sys
import types

import torch
import torch.distributed as dist
import yaml

from engine import Engine
from layout import Layout


def main(path):
    cfg = types.SimpleNamespace(**yaml.safe_load(open(path)))
    dist.init_process_group("gloo")
    lay = Layout()
    eng = Engine(lay, cfg)
    g = torch.Generator().manual_seed(100 + lay.col)
    for k in range(cfg.updates):
        tok = (torch.randint(0, cfg.vocab, (8, 1), generator=g) + torch.arange(17) * 3) % cfg.vocab
        loss = eng.update(k, tok)
        if loss is not None and lay.col == 0 and k % 20 == 0:
            print(f"update {k} loss {loss:.3f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1])
