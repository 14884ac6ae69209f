from django.urls import path

from . import views

urlpatterns = [
    path("", views.front, name="front"),
    path("d/<str:token>/", views.debate, name="debate"),
]
