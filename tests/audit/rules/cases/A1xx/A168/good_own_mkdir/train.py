import tools
import torch.distributed as dist


def main(out):
    dist.init_process_group("gloo")
    if out:
        tools.mkdir(out)


main("runs")
