"""The old name of `fcpair.texts.measures`, which goes in the next version."""

from warnings import warn

from fcpair.texts.measures import *  # noqa: F403

warn("fcpair.measure is called fcpair.texts.measures now", DeprecationWarning, stacklevel=2)
