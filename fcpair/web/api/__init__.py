"""The JSON API: `routes` and `adjudication` have its endpoints, `schemas` the shapes that go in and out."""
