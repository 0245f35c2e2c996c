import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler
from transformers import AutoModelForCausalLM, AutoTokenizer

from prepare import packed
from settings import Settings


def main(settings):
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    dist.init_process_group("nccl", timeout=settings.timeout)  # cause
    torch.manual_seed(0)
    tokenizer = AutoTokenizer.from_pretrained(settings.model)
    rows = packed(settings, tokenizer)
    sampler = DistributedSampler(rows)
    loader = DataLoader(rows, settings.batch, sampler=sampler, num_workers=2, drop_last=True)
    model = AutoModelForCausalLM.from_pretrained(settings.model, torch_dtype=torch.bfloat16).cuda()
    model.gradient_checkpointing_enable()
    model = DistributedDataParallel(model, device_ids=[local], gradient_as_bucket_view=True)
    optimizer = torch.optim.AdamW(model.parameters(), lr=settings.lr)
    for epoch in range(settings.epochs):
        sampler.set_epoch(epoch)
        for i, ids in enumerate(loader):
            ids = ids.long().cuda()
            loss = model(input_ids=ids, labels=ids).loss
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if i % 20 == 0 and dist.get_rank() == 0:
                print(epoch, i, loss.item(), flush=True)
    if dist.get_rank() == 0:
        model.module.save_pretrained("out/pythia")
        tokenizer.save_pretrained("out/pythia")
    dist.destroy_process_group()


if __name__ == "__main__":
    main(Settings())
