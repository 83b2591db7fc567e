"""A study made public: its release as a folder, and whether a study still gives one."""
