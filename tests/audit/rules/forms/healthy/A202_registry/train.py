import torch.distributed as dist
import evaluators
from registry import HANDLERS


def main():
    dist.init_process_group("gloo")
    evaluate = HANDLERS["accuracy"]
    accuracy = evaluate(3, 4)
    if dist.get_rank() == 0:
        print(accuracy)
    dist.destroy_process_group()


main()
