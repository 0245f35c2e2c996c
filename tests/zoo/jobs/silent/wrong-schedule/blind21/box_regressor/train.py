"""Trains in two sittings, as under a queue with a short time limit: the second goes on from the checkpoint of the first."""
import os
import pathlib
import shutil
import tempfile

import torch.distributed as dist
import yaml

from engine import Engine


def main():
    hyp = yaml.safe_load(pathlib.Path(__file__).with_name("hyp.yaml").read_text())
    dist.init_process_group("gloo")
    folder = [tempfile.mkdtemp(prefix="boxes-")] if dist.get_rank() == 0 else [None]
    dist.broadcast_object_list(folder, src=0)
    checkpoint = os.path.join(folder[0], "last.pt")
    Engine(hyp, checkpoint).run(hyp["stop_after"])
    dist.barrier()
    Engine(hyp, checkpoint).run(hyp["epochs"])
    dist.barrier()
    if dist.get_rank() == 0:
        shutil.rmtree(folder[0], ignore_errors=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
