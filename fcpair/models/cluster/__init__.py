"""The heavy stages on a Dask cluster: the same functions, in pieces.

`cluster_encode` does what `fcpair.models.encode` does, `cluster_nearest` what `fcpair.stages.corpus.nearest` does, with
their functions: they cut the work, and put together what comes back. Only this folder imports Dask.
"""
