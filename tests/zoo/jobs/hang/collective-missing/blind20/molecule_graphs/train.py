import torch.distributed as dist
import yaml

from mol.loop import Pretraining


def main():
    with open("config.yaml") as handle:
        cfg = yaml.safe_load(handle)
    dist.init_process_group("gloo")
    run = Pretraining(cfg)
    run.fit()
    report = run.test()
    if dist.get_rank() == 0:
        print("accuracy", report, flush=True)


if __name__ == "__main__":
    main()
