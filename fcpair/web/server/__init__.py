"""Layers that a request passes before its page: connections, limits, security, and the processes that look.

In this order: `connections`, `security` and `admission`, which has what comes with every answer go straight to its
endpoint: by FastAPI alone a label costs 1.6 times the processor time. `answer_batches` writes what comes at the same
moment in one transaction, without which a label costs 1.4 to 1.7 times as much; `tests/web/server/test_road.py` counts
what an answer passes. What reads the whole study goes to a process of its own (`worker`), and what takes minutes to
another (`child_process`).
"""
