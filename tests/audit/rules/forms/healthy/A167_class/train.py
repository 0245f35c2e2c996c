import torch
import torch.distributed as dist
from runs import Run


def main():
    dist.init_process_group("gloo")
    names = [Run("runs")]
    dist.broadcast_object_list(names, src=0)
    run = names[0]
    model = torch.nn.Linear(2, 2)
    if dist.get_rank() == 0:
        run.folder.mkdir(parents=True)
        torch.save(model.state_dict(), run.weights)
    dist.barrier()
    model.load_state_dict(torch.load(run.weights, weights_only=True))
    dist.destroy_process_group()


main()
