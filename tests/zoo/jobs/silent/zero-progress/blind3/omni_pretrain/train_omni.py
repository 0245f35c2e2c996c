import logging

import torch
import torch.distributed as dist
import torch.nn.functional as F

from arguments import Arguments
from torch_parallelize import build_foundation_model, build_parallelize_model

logger = logging.getLogger("train_omni")


def data_stream(args, rank):
    generator = torch.Generator().manual_seed(args.train.seed + rank)
    while True:
        begin = torch.randint(args.model.vocab_size, (args.train.micro_batch_size, 1), generator=generator)
        yield (begin + 3 * torch.arange(args.train.seq_len)) % args.model.vocab_size


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    logging.basicConfig(level=logging.INFO if rank == 0 else logging.WARNING, format="%(message)s")
    args = Arguments()
    torch.manual_seed(args.train.seed)
    model = build_parallelize_model(build_foundation_model(args.model), args.model.model_path)
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=args.train.lr, weight_decay=args.train.weight_decay
    )
    stream = data_stream(args, rank)
    for step in range(1, args.train.max_steps + 1):
        ids = next(stream)
        loss = F.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())
        loss.backward()
        grad_norm = torch.nn.utils.clip_grad_norm_(model.parameters(), args.train.max_grad_norm)
        optimizer.step()
        optimizer.zero_grad()
        if step % args.train.log_steps == 0:
            logger.info("step %d loss %.3f grad_norm %.3f", step, loss.item(), grad_norm.item())
    logger.info("finished training")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
