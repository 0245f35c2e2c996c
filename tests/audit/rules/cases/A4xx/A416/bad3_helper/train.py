"""A helper saves, and what is loaded comes from a file or from the network."""
import argparse

import torch
import torch.distributed as dist


def save_on_master(*args, **kwargs):
    if dist.get_rank() == 0:
        torch.save(*args, **kwargs)


def main(args):
    model = torch.nn.Linear(3, 3)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    if args.resume:
        if args.resume.startswith("https"):
            checkpoint = torch.hub.load_state_dict_from_url(args.resume)
        else:
            checkpoint = torch.load(args.resume, map_location="cpu")
        model.load_state_dict(checkpoint["model"])
        optimizer.load_state_dict(checkpoint["optimizer"])
    save_on_master({
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "args": args,
    }, f"{args.out}/last.pt")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--resume", default="")
    parser.add_argument("--out", default="runs")
    main(parser.parse_args())
