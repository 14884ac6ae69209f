from django.urls import path

from . import views

urlpatterns = [
    path("account/", views.account, name="account"),
    path("terms/", views.site_page, {"slug": "terms"}, name="terms"),
    path("privacy/", views.site_page, {"slug": "privacy"}, name="privacy"),
    path("contact/", views.site_page, {"slug": "contact"}, name="contact"),
    path("robots.txt", views.robots, name="robots"),
]
