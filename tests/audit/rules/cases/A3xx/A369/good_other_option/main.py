import torch

from net import Net


def main(args):
    checkpoint = torch.load(args.resume, weights_only=False) if args.resume else None
    model = Net(checkpoint["args"] if checkpoint else args)
    if args.resume:
        model.load_state_dict(checkpoint["model"])
    return model


def fine_tuned(args):
    if args.resume:
        checkpoint = torch.load(args.resume, weights_only=False)
        width = checkpoint["args"].width
        args.width = width
    model = Net(args)
    if args.resume:
        model.load_state_dict(checkpoint["model"])
    return model


def from_pretrained(args):
    if args.resume:
        checkpoint = torch.load(args.resume, weights_only=False)
        args = checkpoint["args"]
    model = Net(args)
    if args.pretrained:
        model.load_state_dict(torch.load(args.pretrained))
    return model
