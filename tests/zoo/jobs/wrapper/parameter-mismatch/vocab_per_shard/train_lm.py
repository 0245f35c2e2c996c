import torch
import torch.distributed as dist
from torch.nn.functional import cross_entropy
from torch.nn.parallel import DistributedDataParallel

from lm import BigramLM
from text import Vocab, shard


def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    sentences = shard(rank, world)
    vocab = Vocab(sentences)
    print(f"rank {rank}: {len(sentences)} sentences, {len(vocab)} words", flush=True)
    torch.manual_seed(0)
    model = DistributedDataParallel(BigramLM(len(vocab)))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(20):
        for words in sentences:
            ids = torch.tensor(vocab.encode(words))
            loss = cross_entropy(model(ids[:-1]), ids[1:])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
