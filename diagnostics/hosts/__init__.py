"""Several hosts before a job: who they are, how they are asked, and who of them is the bad one.

host_list.py    the file of --hosts
launcher.py     the hosts that srun, mpirun or torchrun have started this command on
starting.py     a program on each host, through ssh or what --remote says
meeting.py      the programs on hosts that a launcher has started this command on
host_line.py    the line to one host; conversation.py asks all at once, each with a deadline
rounds.py       in which rounds pairs are measured; conviction.py: which host or link explains what failed. Pure
answers.py      what hosts answered, as untrusted JSON to plain values
survey.py       which leads: each question once, when the first check needs it

What runs there is in children/hosts. No service: whoever listens does so while the command runs. It judges nothing but
who is cut off; the checks of `preflight/several_hosts` do.
"""
