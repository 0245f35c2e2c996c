import torch
import torch.distributed as dist


def main(names):
    dist.init_process_group("gloo")
    mine = names[dist.get_rank() :: dist.get_world_size()]
    for name in mine:
        torch.save(torch.ones(3), f"latents/{name}.pt")


main(["a", "b"])
