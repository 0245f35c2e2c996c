import argparse

import torch

from net import Net


def kept(args):
    if args.resume:
        resume = args.resume
        checkpoint = torch.load(resume, map_location="cpu", weights_only=False)
        args = checkpoint["args"]
        args.resume = resume
    model = Net()
    if args.resume:
        model.load_state_dict(checkpoint["model"])
    return model


def asked_of_file(args):
    checkpoint = None
    if args.resume:
        checkpoint = torch.load(args.resume, map_location="cpu", weights_only=False)
        args = checkpoint["args"]
    model = Net(args)
    if checkpoint is not None:
        model.load_state_dict(checkpoint["model"])
    return model


def merged(parser):
    args = parser.parse_args()
    if args.resume:
        saved = torch.load(args.resume, weights_only=False)["args"]
        args = argparse.Namespace(**saved)
        args = parser.parse_args(namespace=args)
    model = Net(args)
    if args.resume:
        model.load_state_dict(torch.load(args.resume)["model"])
    return model
