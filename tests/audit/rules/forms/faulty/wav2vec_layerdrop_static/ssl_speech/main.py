import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler

from ssl_speech.encoder import SpeechModel
from ssl_speech.options import Options


def epochs(loader, sampler):
    n = 0
    while True:
        sampler.set_epoch(n)
        yield from loader
        n += 1


def main(dataset, opts=Options()):
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    dist.init_process_group("nccl")
    torch.manual_seed(9 + dist.get_rank())
    model = DistributedDataParallel(SpeechModel().cuda(), device_ids=[local], **opts.wrap.kwargs())
    opt = torch.optim.AdamW(model.parameters(), lr=opts.lr)
    sampler = DistributedSampler(dataset, drop_last=True)
    loader = DataLoader(dataset, opts.batch, sampler=sampler, drop_last=True, num_workers=6)
    for step, (wave, mask, code) in zip(range(opts.steps), epochs(loader, sampler)):
        wave, mask, code = wave.cuda(), mask.cuda(), code.cuda()
        logits = model(wave, mask)
        loss = nn.functional.cross_entropy(logits[mask], code[mask])
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        if step % 500 == 0 and dist.get_rank() == 0:
            print(step, loss.item(), flush=True)
    dist.destroy_process_group()
