from django.apps import AppConfig
from django.contrib.admin import apps


class AccountsConfig(AppConfig):
    name = "accounts"


class AdminConfig(apps.AdminConfig):
    default_site = "accounts.administration.AdminSite"
