import torch
import torch.distributed as dist

from recipe.brain import Brain
from recipe.manifest import Manifest, batches

hparams = {"lr": 1e-3, "epochs": 3, "batch": 6}


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    rows = Manifest().shard(dist.get_rank(), dist.get_world_size())
    Brain(hparams).fit(lambda: batches(rows, hparams["batch"]))
    dist.destroy_process_group()


main()
