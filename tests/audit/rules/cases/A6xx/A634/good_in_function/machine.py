import torch


def describe():
    return [torch.cuda.get_device_name(one) for one in range(torch.cuda.device_count())]


class Names:
    def __str__(self):
        return str(describe())


NAMES = Names()
