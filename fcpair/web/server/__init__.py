"""What a request passes before its page: connections, limits, security, and the process for reports.

In this order: `connections.py` (connections, HTTP and its limits), `security.py` (headers, what is logged) with
`request_bodies.py` (who may send how much), `admission.py` (who may ask for how much at once, by `route_costs.py`).
What is asked for at every answer goes from there straight to its endpoint (`hot_routes.py`), the same as on the usual
way by FastAPI; what several ask for at the same moment is done in one transaction (`answer_batches.py`). What reads
the whole study is answered by a process of its own, `worker_main.py`, which `worker.py` begins.
`tests/web/server/test_road.py` counts what an answer passes until it is committed.
"""
