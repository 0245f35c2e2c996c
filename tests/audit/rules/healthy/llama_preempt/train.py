import os
import sys

import torch
import torch.distributed as dist
from torch.distributed.checkpoint.state_dict import StateDictOptions, get_model_state_dict
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.utils.data import DataLoader, DistributedSampler
from transformers import AutoConfig, AutoModelForCausalLM

from preempt import Preemption


def sharded(name, mesh):
    config = AutoConfig.from_pretrained(name)
    torch.manual_seed(0)
    model = AutoModelForCausalLM.from_config(config)
    policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
    for layer in model.model.layers:
        fully_shard(layer, mesh=mesh, mp_policy=policy)
    fully_shard(model, mesh=mesh, mp_policy=policy)
    return model


def save(model, step):
    state = get_model_state_dict(model, options=StateDictOptions(full_state_dict=True, cpu_offload=True))
    if dist.get_rank() == 0:
        torch.save({"model": state, "step": step}, f"llama-{step}.pt.tmp")
        os.replace(f"llama-{step}.pt.tmp", f"llama-{step}.pt")
    dist.barrier()


def main():
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    dist.init_process_group("nccl")
    device = torch.device("cuda", local)
    mesh = init_device_mesh("cuda", (dist.get_world_size(),))
    model = sharded("meta-llama/Llama-3.2-1B", mesh)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-5, fused=True)
    rows = torch.load("packed.pt", map_location="cpu", mmap=True)
    sampler = DistributedSampler(rows)
    loader = DataLoader(rows, 2, sampler=sampler, drop_last=True)
    preemption = Preemption(device)
    step, stopped = 0, False
    for epoch in range(3):
        sampler.set_epoch(epoch)
        for ids in loader:
            ids = ids.long().to(device)
            loss = model(input_ids=ids, labels=ids).loss
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
            step += 1
            if step % 50 == 0 and dist.get_rank() == 0:
                print(step, loss.item(), flush=True)
            if preemption.agreed(step):
                stopped = True
                break
        if stopped:
            break
    save(model, step)
    dist.destroy_process_group()
    sys.exit(75 if stopped else 0)


if __name__ == "__main__":
    main()
