"""Rules A414 to A449: what a checkpoint holds, and what comes back of it."""
