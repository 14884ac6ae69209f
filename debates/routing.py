"""The websockets' addresses."""

from typing import Any

from django.urls import path, re_path

from .consumers import LiveConsumer, nowhere

websocket_urlpatterns: list[Any] = [
    path("ws/d/<str:token>/", LiveConsumer.as_asgi()),
    re_path(r"", nowhere),  # type: ignore[arg-type]
]
