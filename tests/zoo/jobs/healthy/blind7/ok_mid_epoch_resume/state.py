import os

import torch
import torch.distributed as dist


def gather_rng():
    mine = torch.get_rng_state()
    all_states = [torch.empty_like(mine) for _ in range(dist.get_world_size())]
    dist.all_gather(all_states, mine)
    return all_states


def save(path, model, optimizer, scheduler, epoch, batch, history):
    rng = gather_rng()
    if dist.get_rank() == 0:
        torch.save(
            {
                "model": model.module.state_dict(),
                "optimizer": optimizer.state_dict(),
                "scheduler": scheduler.state_dict(),
                "rng": rng,
                "epoch": epoch,
                "batch": batch,
                "history": history,
            },
            path + ".tmp",
        )
        os.replace(path + ".tmp", path)
    dist.barrier()


def load(path, model, optimizer, scheduler):
    if not os.path.exists(path):
        return 0, 0, []
    state = torch.load(path, weights_only=True)
    model.module.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    scheduler.load_state_dict(state["scheduler"])
    torch.set_rng_state(state["rng"][dist.get_rank()])
    return state["epoch"], state["batch"], state["history"]
