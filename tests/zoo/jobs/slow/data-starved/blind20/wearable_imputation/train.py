import torch.distributed as dist
import yaml

from wear.session import Session


def main():
    with open("config.yaml") as handle:
        cfg = yaml.safe_load(handle)
    dist.init_process_group("gloo")
    Session(cfg).run()
    dist.barrier()


if __name__ == "__main__":
    main()
