import torch
import torch.distributed as dist


class Scores:
    def __init__(self, across):
        self.across = across

    def on_epoch_end(self, value):
        if dist.get_rank() == 0:
            print(self.across(value))


def here(value):
    return value.mean()


def everywhere(value):
    dist.all_reduce(value)
    return value


def main():
    dist.init_process_group("nccl")
    hooks = [Scores(here)]
    for _ in range(9):
        for one in hooks:
            one.on_epoch_end(everywhere(torch.ones(1)))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
