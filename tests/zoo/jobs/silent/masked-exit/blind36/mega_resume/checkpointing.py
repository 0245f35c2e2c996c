"""Checkpoints in folders iter_NNNNNNN/mp_rank_NN, with a tracker file that names the last."""
import os
import sys

import torch
import torch.distributed as dist

_VERSION = None


def print_rank_0(message):
    if not dist.is_initialized() or dist.get_rank() == 0:
        print(message, flush=True)


def set_checkpoint_version(value):
    global _VERSION
    _VERSION = value


def get_checkpoint_name(folder, iteration, tp_rank):
    return os.path.join(folder, f"iter_{iteration:07d}", f"mp_rank_{tp_rank:02d}", "model_optim_rng.pt")


def tracker(folder):
    return os.path.join(folder, "latest_checkpointed_iteration.txt")


def save_checkpoint(args, iteration, model, optimizer, tp_rank):
    name = get_checkpoint_name(args.save, iteration, tp_rank)
    os.makedirs(os.path.dirname(name), exist_ok=True)
    state = {"checkpoint_version": 3.0, "iteration": iteration, "model": model.state_dict(),
             "optimizer": optimizer.state_dict(), "rng": torch.get_rng_state()}
    torch.save(state, name)
    dist.barrier()
    if dist.get_rank() == 0:
        with open(tracker(args.save), "w") as f:
            f.write(str(iteration))
    dist.barrier()
    print_rank_0(f"  saved checkpoint at iteration {iteration} to {args.save}")


def load_checkpoint(args, model, optimizer, tp_rank):
    if not os.path.isfile(tracker(args.load)):
        print_rank_0(f"WARNING: no metadata in {args.load}, will start from random")
        return 0
    with open(tracker(args.load)) as f:
        iteration = int(f.read().strip())
    name = get_checkpoint_name(args.load, iteration, tp_rank)
    print_rank_0(f" loading checkpoint from {args.load} at iteration {iteration}")
    try:
        state = torch.load(name, map_location="cpu")
    except BaseException as e:
        print_rank_0("could not load the checkpoint")
        print_rank_0(e)
        sys.exit()
    set_checkpoint_version(state.get("checkpoint_version", 0))
    model.load_state_dict(state["model"])
    if not args.finetune:
        optimizer.load_state_dict(state["optimizer"])
        torch.set_rng_state(state["rng"])
        return state["iteration"]
    return 0
