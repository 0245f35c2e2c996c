import torch.distributed as dist

from ragged.config import Config
from ragged.trainer import Trainer

if __name__ == "__main__":
    cfg = Config.from_args()
    dist.init_process_group("gloo")
    trainer = Trainer(cfg)
    if dist.get_rank() == 0:
        print(f"{trainer.num_parameters} parameters on {dist.get_world_size()} ranks", flush=True)
    trainer.fit()
    dist.destroy_process_group()
