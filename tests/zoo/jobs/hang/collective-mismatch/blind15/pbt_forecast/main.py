import argparse
import json
import logging

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

from pbt.member import Member
from pbt.population import Population


def run(rank, opts):
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{opts['port']}", rank=rank, world_size=opts["members"])
    logging.basicConfig(level=logging.INFO, format=f"member {rank}: %(message)s")
    torch.set_num_threads(1)
    member = Member(seed=opts["seed"] + rank, lr=opts["rates"][rank])
    population = Population(member, margin=opts["margin"], ready=opts["ready"])
    for generation in range(opts["generations"]):
        member.advance(opts["steps"])
        board = population.exploit()
        logging.info("generation %d board %s lr %.4f", generation, [round(s, 4) for s in board], member.lr)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--config", default="population.json")
    parser.add_argument("--port", type=int, default=29731)
    args = parser.parse_args()
    with open(args.config) as f:
        options = {**json.load(f), "port": args.port}
    mp.spawn(run, args=(options,), nprocs=options["members"])
