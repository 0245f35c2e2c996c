"""One page from what the doctors of several hosts wrote. Each host has its own doctor; none talks to another.

share.py        what `ups-doctor run --share DIR` leaves there: first that it came, then a copy of its report and record
copying.py      the process that copies: a dead network disk holds up nobody else
host_report.py  what one host left, read as untrusted bytes
clocks.py       how far the hosts' clocks are apart, by collectives that all of them finished
merge.py        which host and rank failed first, who lost a peer, who is silent. Pure
cluster_page.py the page, on a terminal and in Markdown; plain JSON
"""
