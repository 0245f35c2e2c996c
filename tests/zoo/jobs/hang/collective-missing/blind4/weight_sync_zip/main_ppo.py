import torch
import torch.distributed as dist
from torch import nn

from checkpoint_engine import BucketReceiver, CheckpointEngine
from sharded import ShardedEngine

CONFIG = {"layers": 3, "width": 32, "vocabulary": 50, "tie_word_embeddings": True}


class Actor(nn.Module):
    def __init__(self, config):
        super().__init__()
        width = config["width"]
        self.embed = nn.Embedding(config["vocabulary"], width)
        self.blocks = nn.ModuleList(nn.Linear(width, width) for _ in range(config["layers"]))
        self.lm_head = nn.Linear(width, config["vocabulary"], bias=False)
        if config["tie_word_embeddings"]:
            self.lm_head.weight = self.embed.weight


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    engine = ShardedEngine(Actor(CONFIG))
    receiver = BucketReceiver(CONFIG) if rank == 0 else None
    checkpoint_engine = CheckpointEngine(rank, receiver)
    for step in range(5):
        sent = checkpoint_engine.send_weights(engine.get_per_tensor_param())
        norm = engine.step(scale=0.1)
        if rank == 0:
            print(f"global_step {step}: {sent} tensors, norm {norm:.3f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
