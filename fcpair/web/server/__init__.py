"""Layers that a request passes before its page: connections, limits, security, and the processes that look.

In this order: `connections` (which ones there may be), `security` (who may send how much, headers, what is logged) and
`admission` (who may ask for how much at once). What comes with every answer then goes straight to its endpoint: by
FastAPI alone a label costs 1.6 times the processor time. `answer_batches` writes what several people send at the same
moment in one transaction, without which a label costs 1.4 to 1.7 times as much; `tests/web/server/test_road.py` counts
what an answer passes until it is committed.

There it says what each address costs, too. What reads the whole study is answered by a process of its own (`worker`),
and what takes minutes is done by another (`child_process`).
"""
