import os
import tempfile

import torch.distributed as dist

from checkpointer import StagedCheckpointer
from config import SaveConfig, TrainConfig
from trainer import OmniTrainer


def main():
    dist.init_process_group("gloo")
    local_rank = int(os.environ["LOCAL_RANK"])
    base = os.path.join(tempfile.gettempdir(), f"omni-{os.environ['TORCHELASTIC_RUN_ID']}")
    stage_root, final_root = os.path.join(base, "stage"), os.path.join(base, "checkpoints")
    for folder in (stage_root, final_root):
        os.makedirs(folder, exist_ok=True)
    save_cfg = SaveConfig()
    checkpointer = StagedCheckpointer(stage_root, final_root, save_cfg, local_rank)
    OmniTrainer(TrainConfig(), save_cfg, checkpointer).train()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
