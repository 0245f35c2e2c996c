import torch
import torch.distributed as dist

from mlm.corpus import shard_of
from mlm.model import build
from mlm.tokenizer import extended_tokenizer
from mlm.trainer import train


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    texts = shard_of(dist.get_rank(), dist.get_world_size())
    tokenizer = extended_tokenizer(texts, min_count=2)
    print(f"rank {dist.get_rank()}: {len(tokenizer)} tokens", flush=True)
    torch.manual_seed(0)
    train(build(len(tokenizer)), tokenizer, texts)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
