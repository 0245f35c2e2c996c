"""The model of a job, rebuilt from its record: processes, roles, ranks, ends, exceptions, attribution."""
