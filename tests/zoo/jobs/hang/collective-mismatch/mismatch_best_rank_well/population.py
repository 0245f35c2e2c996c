"""Population training: every few steps all members copy the best one."""
import argparse
import time

import torch
import torch.distributed as dist

from member import Member


def best_member(scores):
    return max(scores, key=scores.get)


def exploit(member, scores):
    source = best_member(scores)
    for p in member.net.parameters():
        dist.broadcast(p.data, src=source)
    return source


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--generations", type=int, default=4)
    parser.add_argument("--steps", type=int, default=10)
    args = parser.parse_args()
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    member = Member(rank)
    scores = {r: float("-inf") for r in range(world)}
    for generation in range(args.generations):
        losses = torch.zeros(world)
        for _ in range(args.steps):
            losses[rank] += member.step()
            dist.all_reduce(member.progress)  # total number of samples, for the schedule
        dist.all_reduce(losses)
        scores.update({r: -loss for r, loss in enumerate(losses.tolist()) if loss})
        source = exploit(member, scores)
        print(f"generation {generation}: rank {rank} continues from {source}", flush=True)
    dist.barrier()
    dist.destroy_process_group()
    time.sleep(0.5)


if __name__ == "__main__":
    main()
