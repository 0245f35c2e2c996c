import torch
import torch.distributed as dist

from engine.trainer import Engine


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    Engine(epochs=2, eval_seconds=9).train()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
