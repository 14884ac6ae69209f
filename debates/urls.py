from django.urls import path, register_converter

from . import views
from .models import TOKEN_LENGTH


class TokenConverter:
    """A debate's token; whatever else stands in its place was never there."""

    regex = f"[A-Za-z0-9]{{{TOKEN_LENGTH}}}"

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


register_converter(TokenConverter, "token")

urlpatterns = [
    path("", views.front, name="front"),
    path("new/", views.new, name="new"),
    path("debates/", views.debates, name="debates"),
    path("debates/import/", views.import_debate, name="import_debate"),
    path("d/<token:token>/", views.debate, name="debate"),
    path("d/<token:token>/debate.json", views.document, name="document"),
    path("d/<token:token>/stop/", views.stop, name="stop"),
    path("d/<token:token>/go-on/", views.go_on, name="go_on"),
    path("d/<token:token>/judge-again/", views.judge_again, name="judge_again"),
    path("d/<token:token>/delete/", views.delete, name="delete"),
    path("d/<token:token>/undelete/", views.undelete, name="undelete"),
    path("d/<token:token>/share/", views.share, name="share"),
    path("d/<token:token>/renew-link/", views.renew_link, name="renew_link"),
]
