"""One page from what the doctors of several hosts wrote. Each host has its own doctor; none talks to another.

share.py        what `ups-doctor run --share DIR` leaves there: first that it came, then a copy of its report and record
copying.py      the process that copies: a dead network disk holds up nobody else
host_report.py  what one host left, read as untrusted bytes
clocks.py       how far the hosts' clocks are apart, by collectives that all of them finished
one_record.py   their records as one, of which every signature is asked
host_shift.py   one host's record in process numbers that no other host has, and by one clock. Pure
joined_verdict.py  the verdict about that one record, with hosts in it; verdict.py: what is said. Pure
merge.py        which host and rank failed first, who lost a peer, who is silent. Pure
cluster_page.py the page, on a terminal and in Markdown; plain JSON
"""
