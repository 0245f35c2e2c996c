import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from corpus.vocab import build_vocab
from corpus.text import encode, lines


def first_on_main(fn):
    result = fn() if dist.get_rank() == 0 else None
    dist.barrier()
    return fn() if result is None else result


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    vocab = first_on_main(lambda: build_vocab("cache/vocab.json"))
    data = torch.tensor([encode(line, vocab) for line in lines()])
    sampler = DistributedSampler(data)
    loader = DataLoader(TensorDataset(data), batch_size=8, sampler=sampler)
    model = DDP(torch.nn.Sequential(torch.nn.Embedding(len(vocab), 8), torch.nn.Flatten(), torch.nn.Linear(32, len(vocab))))
    optim = torch.optim.Adam(model.parameters(), lr=1e-2)
    for epoch in range(3):
        sampler.set_epoch(epoch)
        for (ids,) in loader:
            loss = torch.nn.functional.cross_entropy(model(ids[:, :4]), ids[:, 4])
            optim.zero_grad()
            loss.backward()
            optim.step()
        if dist.get_rank() == 0:
            print(f"epoch {epoch} loss {loss.item():.3f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
