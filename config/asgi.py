"""HTTP through Django, websockets to the debates' consumers."""

import os

from channels.routing import ProtocolTypeRouter, URLRouter
from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
http = get_asgi_application()

from debates.routing import websocket_urlpatterns  # noqa: E402 - needs the applications loaded

application = ProtocolTypeRouter({"http": http, "websocket": URLRouter(websocket_urlpatterns)})
