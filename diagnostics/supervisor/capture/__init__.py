"""What is taken from a job: samples, stacks, sources, facts of the host; into the record's folder."""
