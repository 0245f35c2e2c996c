import torch.distributed as dist


def layers(model):
    return {at: layer_id for at, layer_id in enumerate(set(int(one) for one in model))}


def number(rows):
    ids = [None]
    if dist.get_rank() == 0:
        ids = [{name: at for at, name in enumerate(set(row["name"] for row in rows))}]
    return ids


if __name__ == "__main__":
    dist.init_process_group("gloo")
    print(layers([1, 2]), number([{"name": "a"}]))
    dist.destroy_process_group()
