from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from .models import SitePage, User


@admin.register(User)
class UserAdmin(admin.ModelAdmin):
    """People sign up themselves, and change their address themselves: it must be confirmed."""

    list_display = ("email", "display_name", "is_staff", "is_active", "date_joined")
    search_fields = ("email", "display_name")
    exclude = ("password",)
    readonly_fields = ("email", "last_login", "date_joined")
    filter_horizontal = ("groups", "user_permissions")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False


@admin.register(SitePage)
class SitePageAdmin(admin.ModelAdmin):
    """The pages are a fixed set; their words are not."""

    list_display = ("title", "slug", "changed")
    readonly_fields = ("slug", "changed")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
