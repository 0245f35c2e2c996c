from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


def train(model, optimizer, data, resume_step, warm):
    plain = DataLoader(data, batch_size=8)
    sampler = DistributedSampler(data)
    dealt = DataLoader(data, batch_size=8, sampler=sampler)
    shuffled = DataLoader(data, batch_size=8, shuffle=True)
    for loader in (plain, dealt):
        for step, batch in enumerate(loader):
            if step < resume_step:
                continue
            model(batch).backward()
            optimizer.step()
    for step, batch in enumerate(shuffled):
        if step < warm:
            continue
        model(batch).backward()
        optimizer.step()
