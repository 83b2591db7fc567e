"""What a request passes before its page: connections, limits, security, and the process for reports."""
