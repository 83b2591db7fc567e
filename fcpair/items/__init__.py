"""Templates of questions about two groups, and the items that they are expanded into."""

from fcpair.items.expand import Items, expand, n_items
from fcpair.items.template import Blank, Option, Template, Text

__all__ = ["Blank", "Items", "Option", "Template", "Text", "expand", "n_items"]
