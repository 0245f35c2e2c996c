"""Gathering the whole state of FSDP is a collective, and stands below a return of all other ranks."""
import torch
import torch.distributed as dist
from torch.distributed.fsdp import FullStateDictConfig, StateDictType
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP


def save(model, path, rank):
    if rank != 0:  # cause
        return  # cause
    config = FullStateDictConfig(offload_to_cpu=True, rank0_only=True)
    with FSDP.state_dict_type(model, StateDictType.FULL_STATE_DICT, config):
        state = model.state_dict()  # cause
    torch.save(state, path)


def main():
    dist.init_process_group("nccl")
    rank = dist.get_rank()
    torch.cuda.set_device(rank % torch.cuda.device_count())
    model = FSDP(torch.nn.Linear(64, 64).cuda())
    opt = torch.optim.AdamW(model.parameters())
    for step in range(10):
        model(torch.randn(4, 64, device="cuda")).sum().backward()
        opt.step()
        opt.zero_grad()
        if step % 5 == 4:
            save(model, f"step{step}.pt", rank)
    dist.destroy_process_group()


main()
