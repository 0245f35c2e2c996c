from argparse import ArgumentParser

import torch.distributed as dist

from ner.session import Session


def parse():
    p = ArgumentParser()
    for name, default in dict(sentences=960, dated_from=600, seed=4, token_slots=256, length=10,
                              batch_size=16, dim=24, epochs=6).items():
        p.add_argument("--" + name.replace("_", "-"), type=int, default=default)
    p.add_argument("--lr", type=float, default=0.01)
    return p.parse_args()


if __name__ == "__main__":
    args = parse()
    dist.init_process_group("gloo")
    Session(args).run()
    dist.barrier()
    dist.destroy_process_group()
