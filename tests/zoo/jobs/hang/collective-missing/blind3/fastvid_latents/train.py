import logging
import os
import tempfile
from pathlib import Path

import torch.distributed as dist

from config import DataConfig, TrainingConfig
from distributed import cleanup, init_distributed
from parquet_dataset import write_synthetic_shards
from training_pipeline import TrainingPipeline


def main():
    logging.basicConfig(level=logging.INFO, format="%(name)s %(message)s")
    rank, world_size = init_distributed()
    data_cfg, train_cfg = DataConfig(), TrainingConfig()
    run_id = os.environ.get("TORCHELASTIC_RUN_ID", "local")
    data_path = Path(tempfile.gettempdir()) / f"fastvid-{run_id}"
    if rank == 0:
        write_synthetic_shards(data_path, data_cfg)
    dist.barrier()
    TrainingPipeline(data_path, data_cfg, train_cfg, rank, world_size).train()
    cleanup()


if __name__ == "__main__":
    main()
