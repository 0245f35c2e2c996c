"""One rank of one try: builds, edits, moves, wraps and steps a model, and says how far it came.

Runs under the job's Python, from 3.8; nothing of ours but what lies in `children/`. The request is the JSON of a
bisection's Case and, beside it:

    "result": FILE         {rank} stands for the rank: the answer, rewritten after each phase so that a crash leaves it
    "structures": FILE     JSON: what each module took and gave in a recorded forward, for stand-ins and modules alone
    "record": bool         rank 0 writes "structures" anew, after each module's forward, and the answer has the tree
    "profile": FILE        {rank}; a Chrome trace of the steps, "" for none
    "memory_bytes": int    limit of this rank, 0 for none

The answer of a rank:

    {"torch": "2.13.0", "phases": [["construct", 0.12], ...], "step": 1, "losses": [0.5], "refusal": "", "hint": "",
     "error": null or {"phase", "step", "type", "message", "frames": [[file, line, function], ...] innermost last,
                       "module": "blocks.3.attn" or null, "module_class", "traceback": text},
     "nonfinite": "" or "loss" or "gradient of NAME", "gradients": "hex digest", "parameters": "hex digest",
     "tree": [ModuleNode as JSON, ...]}

A phase that begins is announced (`agent.mark`), so that the agent's record names it where a signal comes.
Exit codes: 0 answered (also where "error" or "refusal" is set), anything else: the process died of the model.
"""
