"""Layers that a request passes before its page: connections, limits, security, and the process for reports.

In this order: `connections` (HTTP and its limits), `security` (headers, what is logged) with `request_bodies` (who may
send how much), and `admission` (who may ask for how much at once). What comes with every answer then goes straight to
its endpoint (`hot_routes`), and is the same as on the usual way by FastAPI. `answer_batches` writes what several people
send at the same moment in one transaction; `tests/web/server/test_road.py` counts what an answer passes until it is
committed.

`route_costs` is the one place for what each address costs. What reads the whole study is answered by a process of its
own, `worker_main`, which `worker` begins (by a fork of `worker_parent`, where there is one) and talks to by
`worker_pipe`.
"""
