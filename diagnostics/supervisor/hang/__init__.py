"""Progress of a running job, when to take a closer look, and the proof of a deadlock."""
