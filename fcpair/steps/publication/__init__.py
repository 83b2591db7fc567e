"""A study made public: its release as a folder, and whether a study still gives one.

`release_folder` is the one place for what is in that folder and what its documents state; `release_tables` has its
tables, what stands for people in it, and what is cleaned.
"""
