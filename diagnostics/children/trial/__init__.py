"""One rank of one try: builds, edits, moves, wraps and steps a model, and says how far it came.

Runs under the job's Python, from 3.8; nothing of ours but what lies in `children/`. The request is the JSON of a
bisection's Case and, beside it:

    "result": FILE         {rank} stands for the rank: the answer, rewritten as each phase begins, so that a crash
                           leaves it
    "structures": FILE     JSON: what each module took and gave in a recorded forward, for stand-ins and modules alone
    "record": bool         each rank writes its "structures" anew, after each module's forward, and the answer
                           has the tree
    "profile": FILE        {rank}; a Chrome trace of the steps, "" for none
    "origin": bool         look for where a value that is no number was first made; takes longer
    "memory_bytes": int    limit of this rank beyond what it has when it starts, 0 for none
    "timeout_s": float     of the process group

All but "source", "settings", "edits", "seed" and "result" may be left out. Ranks are forked from a warm child (task
`trial`, arguments {"request": REQUEST, "agent": FOLDER}), or programs of their own:
`trial_rank.py REQUEST.json`, with RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR and MASTER_PORT.

The answer of a rank:

    {"torch": "2.13.0", "phase": "forward", "step": 1, "phases": [["construct", 0.12], ...], "losses": [0.5],
     "refusal": "", "hint": "", "stages": ["autoencoder", ...],
     "error": null or {"phase", "step", "type", "message", "frames": [[file, line, function], ...] innermost last,
                       "module": "blocks.3.attn" or null, "module_class", "traceback": text},
     "nonfinite": "" or "loss" or "gradient of NAME" or "parameter NAME", "nonfinite_step": 1,
     "nonfinite_module": "blocks.3" or null, "nonfinite_frames": [[file, line, function], ...] innermost last,
     "gradients": "digest", "parameters": "digest",
     "tree": [ModuleNode as JSON, ...]}

"phase" is what runs now and stays where a signal ends the process; "" once everything came to its end. The phases in
their order: import, group, construct, batch, edit, move, wrap, then in each step forward, loss, backward, optimizer,
then "end", where ranks wait for each other. Each is announced to the agent too: "construct", "step 1: forward".
"nonfinite" is the first value that is no number; the steps go on, so that the other ranks are not kept waiting.
With "origin" the answer has the module whose forward or backward made it, and the call of its forward.
Digests are of all parameters, and given only where ranks must agree on them: "" with fsdp and without a wrapper.
"stages" are the names of the models that an adapter handed over, up to the one chosen.

A rank ends as the user's own program would: exit code 0 where every phase came to its end (also with "nonfinite"), 1
where "error" is set, after its traceback (the code of a SystemExit where it is one), 2 where "refusal" is set, with
that sentence on stderr; anything else: the process died of the model. Where the user's code raised in its import, both
are set, and it ends as by the error: nothing was tried where all ranks say so.
"""
