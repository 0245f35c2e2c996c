"""How a process gets the model of a trial: from a factory, a trainer's adapter, or what was captured of a run."""
