import torch.distributed as dist
import yaml

from ddpm.trainer import DiffusionTrainer


def main():
    with open("config.yaml") as handle:
        cfg = yaml.safe_load(handle)
    dist.init_process_group("gloo")
    trainer = DiffusionTrainer(cfg)
    loss = trainer.fit()
    if trainer.main:
        print(f"finished at step {trainer.step} with loss {loss:.4f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
