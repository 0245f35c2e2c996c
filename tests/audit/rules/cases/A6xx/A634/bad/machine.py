import torch


def describe():
    if not torch.cuda.is_available():
        return []
    return [torch.cuda.get_device_name(one) for one in range(torch.cuda.device_count())]


NAMES = describe()
