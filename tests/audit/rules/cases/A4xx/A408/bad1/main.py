import torch.multiprocessing as mp


def worker(rank, args, note):
    note(rank)


def main(args):
    args.logbook = open(args.log, "a")
    mp.spawn(worker, args=(args, lambda rank: print(rank)), nprocs=2)


def nested():
    def inner(rank):
        print(rank)

    mp.spawn(inner, nprocs=2)


def in_context(handler):
    context = mp.get_context("spawn")
    context.Process(target=lambda: print("started")).start()
