import torch

from net import Net


def evaluate(args):
    checkpoint = torch.load(args.weights, map_location="cpu", weights_only=False)
    args = checkpoint["args"]
    model = Net(args)
    model.load_state_dict(checkpoint["model"])
    return model


def either(args):
    if args.evaluate:
        checkpoint = torch.load(args.evaluate, weights_only=False)
        args = checkpoint["args"]
        model = Net(args)
        model.load_state_dict(checkpoint["model"])
        return model
    model = Net(args)
    if args.evaluate:
        model.load_state_dict(torch.load("other.pt"))
    return model


def said(args):
    if args.resume:
        checkpoint = torch.load(args.resume, weights_only=False)
        args = checkpoint["args"]
    if args.resume:
        print("goes on from", args.resume)
    return args
