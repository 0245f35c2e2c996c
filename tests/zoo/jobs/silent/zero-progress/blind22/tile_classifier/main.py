import logging
import os
import tempfile

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler

from tiles import Engine, TileNet, TileSet, fake_archive

if __name__ == "__main__":
    logging.basicConfig(level=os.environ.get("LOGLEVEL", "INFO"), format="%(asctime)s %(name)s %(message)s")
    dist.init_process_group("gloo")
    torch.manual_seed(9)
    train, val = TileSet(fake_archive(640, 1)), TileSet(fake_archive(200, 2))
    model = DistributedDataParallel(TileNet())
    engine = Engine(model, torch.nn.CrossEntropyLoss(), torch.optim.AdamW(model.parameters(), lr=3e-3))
    best = engine.fit(
        DataLoader(train, batch_size=20, sampler=DistributedSampler(train)),
        DataLoader(val, batch_size=50, sampler=DistributedSampler(val, shuffle=False)),
        epochs=4,
    )
    if dist.get_rank() == 0:
        with tempfile.TemporaryDirectory() as folder:
            torch.save(model.module.state_dict(), os.path.join(folder, "tilenet.pt"))
        print(f"Training finished, best accuracy {best:.3f}")
    dist.destroy_process_group()
