"""Settings have a place of their own; whole imports can be taken back; decisions by rule follow the labels.

Revision ID: 0003
Revises: 0002
"""

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Nothing yet."""
