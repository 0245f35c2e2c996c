"""Several problems in one run: `data.tasks`."""
