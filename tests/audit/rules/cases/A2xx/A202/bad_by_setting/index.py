"""What rank 0 calls may meet the others, by a setting that is not seen here: likely, and no error."""
import torch
import torch.distributed as dist


def load(args, model):
    if args.load is not None:
        newest = torch.tensor([args.iteration])
        dist.all_reduce(newest, op=dist.ReduceOp.MAX)
        model.load_state_dict(torch.load(f"{args.load}/{int(newest)}.pt", map_location="cpu"))


def embed(args, model, texts):
    if dist.get_rank() == 0:
        load(args, model)
        torch.save(model(texts), "index.pt")
    dist.barrier()
