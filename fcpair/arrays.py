"""Arrays by what they hold: figures, whole numbers such as counts and ids, yes or no, and vectors of texts."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Vectors = NDArray[np.float32]
