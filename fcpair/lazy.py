"""Libraries that take long to load, each loaded when something of it is first used: `from fcpair.lazy import pd`."""

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

__all__ = ["Lazy", "NDArray", "matplotlib", "np", "pd", "scipy", "tokenizers", "torch", "transformers"]


class Lazy(ModuleType):
    """A module that is not loaded before something of it is asked for."""

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self.__name__), name)


if TYPE_CHECKING:
    import matplotlib
    import numpy as np
    import pandas as pd
    import scipy
    import tokenizers
    import torch
    import transformers
    from numpy.typing import NDArray
else:
    np, pd = Lazy("numpy"), Lazy("pandas")
    matplotlib, scipy = Lazy("matplotlib"), Lazy("scipy")
    tokenizers, torch, transformers = map(Lazy, ("tokenizers", "torch", "transformers"))
    NDArray = Any  # in annotations alone
