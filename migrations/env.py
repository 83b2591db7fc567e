"""Alembic's entry: runs the migrations on the connection that fcpair hands over."""

from alembic import context

from fcpair.store.database.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=True,
    transactional_ddl=False,
)
context.run_migrations()
