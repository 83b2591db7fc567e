"""Libraries that take long to load, each loaded when something of it is first used: `from fcpair.lazy import pd`."""

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

__all__ = ["Lazy", "NDArray", "np", "pd", "special", "torch"]


class Lazy(ModuleType):
    """A module that is not loaded before something of it is asked for."""

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self.__name__), name)


if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import torch
    from numpy.typing import NDArray
    from scipy import special
else:
    np, pd, special, torch = map(Lazy, ("numpy", "pandas", "scipy.special", "torch"))
    NDArray = Any  # in annotations alone
