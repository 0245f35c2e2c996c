"""The state of all ranks at one moment: pending operations, logs of collectives, the wait-for graph, deadlocks."""
