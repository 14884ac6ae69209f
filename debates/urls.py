from django.urls import path

from . import views

urlpatterns = [
    path("", views.front, name="front"),
    path("new/", views.new, name="new"),
    path("debates/", views.debates, name="debates"),
    path("debates/import/", views.import_debate, name="import_debate"),
    path("d/<str:token>/", views.debate, name="debate"),
    path("d/<str:token>/debate.json", views.document, name="document"),
    path("d/<str:token>/stop/", views.stop, name="stop"),
    path("d/<str:token>/go-on/", views.go_on, name="go_on"),
    path("d/<str:token>/judge-again/", views.judge_again, name="judge_again"),
    path("d/<str:token>/delete/", views.delete, name="delete"),
    path("d/<str:token>/undelete/", views.undelete, name="undelete"),
    path("d/<str:token>/share/", views.share, name="share"),
    path("d/<str:token>/renew-link/", views.renew_link, name="renew_link"),
]
