from django.apps import AppConfig


class EmbeddedConfig(AppConfig):
    """Servers that run from wheels: PostgreSQL, Valkey and the local model."""

    name = "embedded"
