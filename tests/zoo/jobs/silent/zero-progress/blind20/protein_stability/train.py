import torch.distributed as dist
import yaml

from protein.finetune import Finetune


def main():
    with open("config.yaml") as handle:
        cfg = yaml.safe_load(handle)
    dist.init_process_group("gloo")
    Finetune(cfg).fit()
    dist.barrier()


if __name__ == "__main__":
    main()
