import argparse

import torch
import torch.distributed as dist

from phases import Trunk, segment_phase, shared_phase
from tables import Transactions


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--shared-epochs", type=int, default=4)
    parser.add_argument("--segment-epochs", type=int, default=3)
    args = parser.parse_args()
    dist.init_process_group("gloo")
    torch.manual_seed(13)
    model, table = Trunk(), Transactions(dist.get_rank())
    shared_phase(model, table, args.shared_epochs)
    scores = segment_phase(model, table, args.segment_epochs)
    if dist.get_rank() == 0:
        print("segment losses", scores, flush=True)
        torch.save(model.state_dict(), "retail.pt")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
