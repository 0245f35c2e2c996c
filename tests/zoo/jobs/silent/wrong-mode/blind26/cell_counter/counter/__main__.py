import json
import logging
import sys

import torch
import torch.distributed as dist

from .images import Cells
from .net import CountNet
from .runner import IterBasedRunner

with open(sys.argv[1]) as handle:
    cfg = json.load(handle)
dist.init_process_group("gloo")
logging.basicConfig(level=logging.INFO if dist.get_rank() == 0 else logging.ERROR, format="%(asctime)s %(message)s")
torch.manual_seed(cfg["seed"])
IterBasedRunner(CountNet(cfg["dropout"]), Cells(320, 0), Cells(80, 1), cfg).run()
dist.destroy_process_group()
