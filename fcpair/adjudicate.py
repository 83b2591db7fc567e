"""From a pair's labels to one label: what is unanimous, what a majority decides, what waits for a person."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from fcpair.label import NO_CODE
from fcpair.records import Rule, Scheme

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

Policy = Literal["manual", "majority"]
Ties = Literal["wait", "discard"]


@dataclass(frozen=True)
class Tally:
    """How often each pair got each answer.

    `pair_id` has shape `(n_pairs,)`, ascending; `counts` shape `(n_pairs, n_choices)`, columns in the order of the
    scheme's codes. A skip is no answer, so it counts nowhere.
    """

    scheme: Scheme
    pair_id: NDArray[np.int64]
    counts: NDArray[np.int64]

    @property
    def n_labels(self) -> NDArray[np.int64]:
        """The number of labels of each pair, definite or not, shape `(n_pairs,)`."""
        import numpy as np

        return np.asarray(self.counts.sum(axis=1))

    def votes(self, codes: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many labels of each pair equal its code in `codes`; 0 where that is no code of the scheme."""
        import numpy as np

        known = np.isin(codes, self.scheme.codes)
        column = np.searchsorted(self.scheme.codes, np.where(known, codes, self.scheme.codes[0]))
        return np.where(known, self.counts[np.arange(len(codes)), column], 0)


def tally(pair_id: NDArray[np.int64], code: NDArray[np.int64], scheme: Scheme) -> Tally:
    """Count the answers of each pair.

    Args:
        pair_id: the pair of each label, shape `(n_labels,)`.
        code: the code of each label, shape `(n_labels,)`.
        scheme: the answers that there are.
    """
    import numpy as np

    pairs, row = np.unique(pair_id, return_inverse=True)
    column = np.searchsorted(scheme.codes, code)
    n_choices = len(scheme.codes)
    counts = np.bincount(row * n_choices + column, minlength=len(pairs) * n_choices)
    return Tally(scheme, pairs, counts.reshape(len(pairs), n_choices))


def decide(tallied: Tally, policy: Policy, ties: Ties = "wait") -> pd.DataFrame:
    """Decide what can be decided without a person.

    A pair whose definite labels agree takes that label. Of the rest, `majority` decides those in which one definite
    answer was given more often than every other, as FC-CONAN did; `manual` leaves them to a person. Where no
    definite answer leads (a tie, or "not sure" alone), `majority` waits for a person or discards, as `ties` says.

    Returns:
        One row per pair: `pair_id`, `decided` (False: it waits for a person), `code` (-1: discarded or waiting),
        `rule` (`unanimous`, `majority`, or `no_majority` for what is discarded).
    """
    import numpy as np
    import pandas as pd

    definite_columns = np.flatnonzero(np.isin(tallied.scheme.codes, tallied.scheme.definite))
    definite = tallied.counts[:, definite_columns]
    most = definite.max(axis=1)
    leading = (definite == most[:, None]).sum(axis=1) == 1
    unanimous = (definite > 0).sum(axis=1) == 1
    settled = unanimous | (leading & (most > 0) & (policy == "majority"))
    discarded = ~settled & (policy == "majority") & (ties == "discard")
    leader = np.asarray(tallied.scheme.codes)[definite_columns[definite.argmax(axis=1)]]
    return pd.DataFrame(
        {
            "pair_id": tallied.pair_id,
            "decided": settled | discarded,
            "code": np.where(settled, leader, NO_CODE),
            "rule": np.select(
                [unanimous, discarded], [Rule.UNANIMOUS.value, Rule.NO_MAJORITY.value], Rule.MAJORITY.value
            ),
        }
    )
