import torch
import torch.distributed as dist
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler

from corpus import Chain
from lm import TinyLM


def materialise(seed):
    with torch.device("meta"):
        model = TinyLM(tie_word_embeddings=True)
    model.to_empty(device="cpu")
    model.lm_head.weight = model.tok.weight
    torch.manual_seed(seed)
    model.init_weights()
    return model


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    model = DistributedDataParallel(materialise(0))
    if rank == 0:
        print("parameters", sum(p.numel() for p in model.parameters()))
    data = Chain()
    sampler = DistributedSampler(data, seed=3)
    loader = DataLoader(data, 16, sampler=sampler, drop_last=True)
    opt = torch.optim.AdamW(model.parameters(), 3e-3)
    warm = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1.0, (s + 1) / 20))
    step = 0
    for epoch in range(2):
        sampler.set_epoch(epoch)
        for ids in loader:
            logits = model(ids[:, :-1])
            loss = F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
            opt.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
            warm.step()
            step += 1
            if rank == 0 and step % 30 == 0:
                print("step", step, "loss", round(loss.item(), 3), flush=True)
    if rank == 0:
        torch.save(model.module.state_dict(), "lm.pt")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
