"""What the relay of a job's output is made of: a destination's streams, a bounded copy of each, and who is told."""
