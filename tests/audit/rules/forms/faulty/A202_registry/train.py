import torch.distributed as dist
import evaluators
from registry import HANDLERS


def main():
    dist.init_process_group("gloo")
    evaluate = HANDLERS["accuracy"]
    if dist.get_rank() == 0:  # cause
        print(evaluate(3, 4))  # cause
    dist.destroy_process_group()


main()
