import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.distributed import DistributedSampler

from model import SmallCTC
from trainer_ds import Trainer


class AudioDataset(Dataset):
    def __init__(self, n=224):
        g = torch.Generator().manual_seed(11)
        self.codes = torch.randn(12, 16, generator=g)
        self.text = torch.randint(1, 12, (n, 5), generator=g)
        self.noise = torch.randn(n, 20, 16, generator=g) * 0.3

    def __len__(self):
        return len(self.text)

    def __getitem__(self, i):
        frames = self.codes[self.text[i]].repeat_interleave(4, dim=0)
        return {"speech": frames + self.noise[i], "speech_lengths": 20, "text": self.text[i]}


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank, world_size = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(1234)

    dataset = AudioDataset()
    sampler = DistributedSampler(dataset, num_replicas=world_size, rank=rank, shuffle=True)
    loader = DataLoader(dataset, batch_size=4, sampler=sampler, drop_last=True)
    model = DDP(SmallCTC())
    optim = torch.optim.Adam(model.parameters(), lr=3e-3)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optim, lambda s: min((s + 1) / 8, (8 / (s + 1)) ** 0.5))
    trainer = Trainer(rank, world_size, max_epoch=3, accum_grad=2)
    for epoch in range(trainer.max_epoch):
        sampler.set_epoch(epoch)
        trainer.train_epoch(model, optim, scheduler, loader, epoch)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
