import io
import tempfile
import torch
import torch.distributed as dist


def keep(model):
    with tempfile.TemporaryFile() as kept:
        torch.save(model.state_dict(), kept)
    with tempfile.NamedTemporaryFile() as named:
        torch.save(model.state_dict(), named.name)
    buffer = io.BytesIO()
    torch.save(model.state_dict(), buffer)
    return buffer


def main():
    dist.init_process_group("gloo")
    keep(torch.nn.Linear(2, 2))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
