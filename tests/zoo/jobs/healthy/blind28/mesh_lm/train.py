import argparse
import warnings

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.distributed.checkpoint.state_dict import StateDictOptions, get_model_state_dict
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

import shard
from layers import ConvLM


def sentences(count, seed, length=24, symbols=32):
    """Each symbol follows from the two before it."""
    gen = torch.Generator().manual_seed(seed)
    ids = torch.randint(0, symbols, (count, length + 1), generator=gen)
    for place in range(2, length + 1):
        surprise = torch.rand(count, generator=gen) < 0.1
        ids[:, place] = torch.where(surprise, ids[:, place], (ids[:, place - 1] + 3 * ids[:, place - 2]) % symbols)
    return TensorDataset(ids)


def loader_for(data, mesh, batch, shuffle):
    sampler = DistributedSampler(data, num_replicas=mesh["dp"].size(), rank=mesh["dp"].get_local_rank(), shuffle=shuffle,
                                 drop_last=True)
    return DataLoader(data, batch, sampler=sampler, drop_last=True)


def loss_of(model, ids):
    return F.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())


def split_by_kind(model, lr):
    """Parameters on one mesh share an optimizer: foreach does not mix them."""
    kinds = {}
    for parameter in model.parameters():
        kinds.setdefault(parameter.device_mesh.ndim, []).append(parameter)
    return [torch.optim.AdamW(group, lr=lr) for group in kinds.values()]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tp", type=int, default=2)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--lr", type=float, default=5e-3)
    args = parser.parse_args()
    warnings.filterwarnings("ignore", category=UserWarning)
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    mesh = shard.mesh_of(args.tp)
    torch.manual_seed(77)
    model = shard.apply(ConvLM(), mesh)
    optimizers = split_by_kind(model, args.lr)
    fit = loader_for(sentences(480, 1), mesh, args.batch, True)
    held = loader_for(sentences(96, 2), mesh, args.batch, False)

    for epoch in range(args.epochs):
        fit.sampler.set_epoch(epoch)
        model.train()
        for (ids,) in fit:
            loss = loss_of(model, ids)
            loss.backward()
            for optimizer in optimizers:
                optimizer.step()
                optimizer.zero_grad()
        model.eval()
        with torch.no_grad():
            held_loss = sum(loss_of(model, ids) for (ids,) in held) / len(held)
        dist.all_reduce(held_loss, group=mesh["dp"].get_group())
        held_loss = held_loss.item() / mesh["dp"].size()
        # all ranks gather, rank 0 gets the tensors and writes them
        full = get_model_state_dict(model, options=StateDictOptions(full_state_dict=True, cpu_offload=True))
        if rank == 0:
            torch.save(full, "lm.pt")
            print(f"epoch {epoch} loss {loss.item():.4f} held {held_loss:.4f}, {len(full)} tensors saved", flush=True)
        dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
