"""The order of cases by the doubt of a label model; while a study is served, nobody waits for that model."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from threading import Lock, Thread
from typing import get_args

from fcpair.errors import FcpairError, InputError, StageError
from fcpair.param_values import invalid_value
from fcpair.params import CaseRanking
from fcpair.stages.adjudication.aggregate import DAWID_SKENE, LabelData, doubt_of, fit_model
from fcpair.steps.adjudication.aggregate import load_label_data
from fcpair.store import Store, Tx

NEW_SHARE = 100  # of the answers are so many times those after which doubt is estimated anew


def estimate_doubts(labels: LabelData) -> dict[int, float]:
    """The doubt of each pair with a definite label, by Dawid and Skene's model."""
    probability = fit_model(DAWID_SKENE, labels.table).probability
    return dict(zip(labels.cell_ids.tolist(), doubt_of(probability).tolist(), strict=True))


def order_by_doubt(cell_ids: Iterable[int], doubts: Mapping[int, float]) -> list[int]:
    """Pairs in the order of their doubt, the greatest first; equal doubt goes by id.

    Pairs without a definite label, of which no model says anything, are before all others.
    """
    return sorted(cell_ids, key=lambda cell_id: (-doubts.get(cell_id, 1.0), cell_id))


def rank_cases(tx: Tx, cell_ids: Sequence[int], order: CaseRanking) -> Sequence[int]:
    """Cases that are in the order of their rows as they are, or by doubt; raises what `load_label_data` raises."""
    if order not in get_args(CaseRanking):
        raise invalid_value("order", order, f"one of {', '.join(get_args(CaseRanking))}")
    return order_by_doubt(cell_ids, estimate_doubts(load_label_data(tx))) if order == "doubt" and cell_ids else cell_ids


class DoubtRanking:
    """The newest estimate of doubt, and who was shown cases before there was any."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._fit: Thread | None = None
        self._newest = 0
        self.is_ready = False
        """Whether there has been an estimate, or it was found that no label model says anything."""
        self.doubts: Mapping[int, float] = {}
        """By pair; empty where no label model says anything of the labels."""
        self.shown_early: defaultdict[int, set[int]] = defaultdict(set)
        """The pairs that each person was last shown in another order, because there was no estimate yet."""

    def refresh(self, store: Store, newest: int) -> None:
        """Begin to estimate doubt anew, if a hundredth of the answers or more came since; `newest` is the last one.

        It takes a second or two of 200,000 labels. A pair with newer labels keeps its place until then.
        """
        with self._lock:
            is_new = not self._newest or newest - self._newest >= newest / NEW_SHARE
            if is_new and (self._fit is None or not self._fit.is_alive()):
                self._newest = newest
                self._fit = Thread(target=self._estimate, args=(store,), daemon=True)
                self._fit.start()

    def note_shown(self, person_id: int, cell_id: int, *, early: bool) -> None:
        """Note that somebody is shown a pair, in this order or before there is one."""
        shown_early = self.shown_early[person_id]
        (shown_early.add if early else shown_early.discard)(cell_id)

    def wait(self) -> None:
        """Wait for the estimate that is under way, if one is."""
        with self._lock:
            fit = self._fit
        if fit is not None:
            fit.join()

    def _estimate(self, store: Store) -> None:
        try:
            with store.read() as tx:
                labels = load_label_data(tx)
            self.doubts = estimate_doubts(labels)
        except (InputError, StageError):
            pass  # no label model says anything of these labels
        except FcpairError:
            self._newest = 0  # the study could not be read, so the next request tries again
            return
        self.is_ready = True
