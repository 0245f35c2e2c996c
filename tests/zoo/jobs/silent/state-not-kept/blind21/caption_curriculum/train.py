import gc
import pathlib

import torch.distributed as dist
import yaml

from captions.callbacks import ShuffleEpoch, TagCurriculum
from captions.trainer import Trainer


def main():
    cfg = yaml.safe_load(pathlib.Path(__file__).with_name("config.yaml").read_text())
    dist.init_process_group("gloo")
    Trainer(cfg, [ShuffleEpoch(), TagCurriculum(**cfg["curriculum"])]).fit()
    gc.collect()
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
