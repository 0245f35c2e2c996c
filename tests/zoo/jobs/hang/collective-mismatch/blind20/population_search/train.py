import torch.distributed as dist
import yaml

from pbt.board import ScoreBoard
from pbt.exploit import Exploit
from pbt.member import Member
from pbt.task import RegressionTask


def main():
    with open("config.yaml") as handle:
        cfg = yaml.safe_load(handle)
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    member = Member(rank, cfg, RegressionTask(cfg["inputs"], cfg["seed"], rank))
    board = ScoreBoard(rank, world, cfg["refresh_every"])
    exploit = Exploit(cfg["margin"], cfg["factors"], cfg["seed"])
    for number in range(cfg["rounds"]):
        member.train(cfg["steps"])
        score = member.score()
        board.post(score)
        leader = exploit.apply(member, board)
        print(f"round {number} rank {rank} score {score:.4f} rate {member.rate:.4f} leader {leader}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
