"""Rules A421 to A449: what a checkpoint holds, and what comes back of it."""
