import torch
import torch.distributed as dist



def train(model, loader, optimizer, epochs):
    for epoch in range(epochs):
        for step, batch in enumerate(loader):
            loss = model(batch).mean()
            loss.backward()
            optimizer.step()
            if step % 100 == 0:
                dist.all_gather_object([None, None], loss.item())
        names = [None] * dist.get_world_size()
        dist.all_gather_object(names, model.name)


def share(name):
    names = [name]
    dist.broadcast_object_list(names, src=0)
    return names[0]
