import datetime
import tempfile

import torch
import torch.distributed as dist
from torch import nn

from data import make
from trainer import Trainer

if __name__ == "__main__":
    dist.init_process_group("gloo", timeout=datetime.timedelta(minutes=30))
    torch.manual_seed(4)
    model = nn.Sequential(nn.Linear(40, 128), nn.ReLU(), nn.Linear(128, 9))
    with tempfile.TemporaryDirectory() as out:
        Trainer(model, make(800, 1, 1.5), make(300, 2, 2.5), out).fit(epochs=40)
    dist.destroy_process_group()
