import torch


def step(net, x, optimizer):
    net(x).mean().backward()
    optimizer.step()


def fit(net, batches, optimizer, writers):
    done = 0
    try:
        for x in batches:
            step(net, x, optimizer)
            done += 1
    finally:
        for writer in writers:
            if writer is None:
                continue
            writer.close()

        def last():
            return done

        print(last())
    return done


def read(path):
    try:
        return torch.load(path)
    finally:
        return None


def answered(net, x, optimizer):
    try:
        step(net, x, optimizer)
        code = 0
    except Exception as error:
        print(error)
        code = 1
    finally:
        return code
