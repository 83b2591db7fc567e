"""The heavy stages on a Dask cluster: the same functions, in pieces."""
