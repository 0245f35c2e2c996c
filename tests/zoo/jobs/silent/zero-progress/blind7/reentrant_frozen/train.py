import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.distributed import DistributedSampler

from finetune import FinetuneArgs, prepare_model
from gpt import GPT


class Copying(Dataset):
    """A random prefix, repeated: the second half can be predicted from the first."""

    def __init__(self, n=960, half=12, vocab=40):
        g = torch.Generator().manual_seed(2)
        prefix = torch.randint(0, vocab, (n, half), generator=g)
        self.ids = torch.cat([prefix, prefix], 1)

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, i):
        return self.ids[i, :-1], self.ids[i, 1:]


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    args = FinetuneArgs()
    torch.manual_seed(0)
    model, trainable = prepare_model(GPT(), args)
    model = DistributedDataParallel(model, find_unused_parameters=True)
    optimizer = torch.optim.AdamW(trainable, lr=args.lr)
    data = Copying()
    sampler = DistributedSampler(data)
    loader = DataLoader(data, batch_size=args.batch, sampler=sampler)
    model.train()
    step = 0
    while step < args.steps:
        sampler.set_epoch(step)
        for ids, labels in loader:
            loss = model(ids, labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
            if step % 15 == 0 and dist.get_rank() == 0:
                print(f"step {step} loss {loss.item():.4f}", flush=True)
            if step == args.steps:
                break
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
