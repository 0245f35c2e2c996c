"""Rules A368 to A371 and A414 to A449: what a checkpoint holds, and what comes back of it."""
