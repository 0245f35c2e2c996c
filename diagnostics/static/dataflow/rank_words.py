"""The words by which sources speak of the rank, one table for each degree of certainty. Pure.

What spreads or accuses asks for a whole name; what excuses is content with any name that may speak of a rank.
"""

from __future__ import annotations

import re

# A whole name that is the rank, or a test of it.
RANK_NAME = re.compile(
    r"^(?:\w+_)?rank$|^(?:local_)?process_index$|^proc_?id$|^rank_?id$"
    r"|^is_(?:\w{1,60}_)?(?:main|master|chief|primary|leader|root|rank_?zero|rank_?0|global_zero|world_process_zero"
    r"|coordinator)\w*$"
    r"|^(?:main|master)_process$",
    re.IGNORECASE,
)
RANK_CALLS = {"get_rank", "get_node_local_rank", "get_local_rank", "getpid", "get_group_rank", "get_coordinate"}
RANK_VARIABLE = re.compile(
    r"^(?:LOCAL_|GROUP_|NODE_|ROLE_|SLURM_(?:PROC|LOCAL|NODE)|OMPI_\w+_|PMI_)?(?:RANK|ID)$|^SLURM_PROCID$"
)
GLOBAL_RANK_VARIABLES = frozenset(["RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK"])  # among all processes
RANK_VARIABLES = GLOBAL_RANK_VARIABLES | {"LOCAL_RANK"}
WORLD_VARIABLES = frozenset(["WORLD_SIZE", "SLURM_NTASKS", "OMPI_COMM_WORLD_SIZE"])
# Ranks of matrices, what orders things, and the bounds of a range of ranks.
NOT_A_RANK = re.compile(
    r"^(?:lora|low|matrix|max|min|top|tucker|cp)_?\w*rank$|ranker|ranking|lora_rank|low_rank|rank_loss|_ranks?_dim"
    r"|(?:^|_)(?:all|any|each|every|per|by|cross|across|multi|single|no|start|end|begin|stop)_rank$",
    re.IGNORECASE,
)
# The rank's number, and how many there are, as they are worked out for a given rank.
OWN_RANK = re.compile(
    r"^(?:get_)?(?:global_|local_|my_|node_|world_|dist_|proc_|this_)?rank$|process_index$|^proc_?id$", re.IGNORECASE
)
WORLD_SIZE = re.compile(
    r"^(?:get_)?(?:global_|dist_|local_)?(?:world|num|n)_?(?:size|processes|ranks|gpus|replicas)$|^world$",
    re.IGNORECASE,
)
# A name that says whether several ranks run.
DISTRIBUTED = re.compile(
    r"^(?:is_)?(?:_?use_)?(?:distributed|ddp|dist)(?:_(?:is_)?(?:initialized|available|enabled|run|training|mode))*$"
    r"|^is_initialized$|^is_available$|^is_dist_\w+$|^is_(?:torch_)?distributed\w*$|^multi_?gpu$|^is_torchelastic_launched$"
    r"|^has_(?:multiple_)?(?:ranks|processes)$",
    re.IGNORECASE,
)
# Ranks of something else than the job.
OF_SOMETHING_ELSE = re.compile(
    r"last|group|pipe|stage|model|tensor|data|(?:^|_)(?:dp|tp|pp|mp|ep|cp|sp|vp|cfg|shard|replicate)_"
    r"|expert|seq|replica|worker|layer|lora|mesh|coord",
    re.IGNORECASE,
)
# Any name that may speak of a rank: a test of it may be a guard.
MAY_NAME_RANK = re.compile(
    r"rank|is_?(?:main|master|chief|primary|leader|global_zero|root)|process_index|main_process|worker_id|shard_id|"
    r"node_id|proc_?id|is_lead|^gpu$|^gpu_?(?:id|idx|index)$|^device_?(?:id|index)$|^proc_?(?:index|num)$",
    re.IGNORECASE,
)
MENTIONS_RANK = re.compile(r"(?:^|_)rank(?:_|$|s$)|main_process|master|is_root|coordinator", re.IGNORECASE)
# What runs what it is given on one rank: sure by its whole name, and perhaps.
RUNS_ON_ONE = re.compile(
    r"^(?:rank_?zero|main_process|master|main_rank|rank_?0)_only$|^on_(?:local_)?(?:main|last)_process$"
    r"|^(?:only_)?on_(?:rank_?(?:0|zero)|main|master)\w*$|^run_on_main\w*$|^only_main\w*$|^master_only$",
    re.IGNORECASE,
)
MAY_RUN_ON_ONE = re.compile(
    r"rank_?zero|rank_?0|main_process|on_main|main_only|master_only|zero_only|is_main|only_main|rank_only|local_main"
    r"|on_(?:last_|local_)?process|chief_only|main_rank|only_rank|first_rank|on_rank",
    re.IGNORECASE,
)
# In the text of a statement that is known to depend on the rank: whether it says so itself.
SHOWS_RANK = re.compile(r"rank|main|master|leader|chief", re.IGNORECASE)
