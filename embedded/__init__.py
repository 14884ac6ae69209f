"""Servers that run from wheels, so that the first command needs no installed server.

`manage.py services` starts PostgreSQL, Valkey and the local model; `manage.py up` starts the whole site on top of
them. One process, the supervisor, starts all the others, keeps them running and stops them. Data, logs and passwords
lie in `var/`.
"""
