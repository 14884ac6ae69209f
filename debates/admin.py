"""A look at the rows, for staff. What the engine and its workers write can't be edited here."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from .log import tell
from .models import Debate, Seat, Sitting, Turn, Verdict


class ReadOnly:
    """Rows that are only looked at."""

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class SeatRows(ReadOnly, admin.TabularInline):
    model = Seat
    extra = 0
    can_delete = False


class SittingRows(ReadOnly, admin.TabularInline):
    model = Sitting
    extra = 0
    can_delete = False
    fields = ("kind", "state", "attempts", "first_number", "failed_bench", "failure", "opened", "started", "ended")
    readonly_fields = fields


@admin.register(Debate)
class DebateAdmin(admin.ModelAdmin):
    list_display = ("motion", "format", "origin", "owner", "visibility", "created")
    list_filter = ("format", "origin", "visibility")
    list_select_related = ("owner",)
    search_fields = ("motion", "token", "owner__email")
    date_hierarchy = "created"
    fields = ("motion", "owner", "format", "rules", "origin", "label", "visibility", "token", "fence", "created")
    readonly_fields = ("motion", "owner", "format", "rules", "origin", "token", "fence", "created")
    inlines = (SeatRows, SittingRows)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def save_model(self, request: HttpRequest, obj: Debate, form: Any, change: bool) -> None:
        """Who may see it may have changed: those who are watching are checked again."""
        super().save_model(request, obj, form, change)
        tell(obj.pk, "access")


@admin.register(Turn)
class TurnAdmin(ReadOnly, admin.ModelAdmin):
    list_display = ("debate", "number", "round_name", "bench", "kind", "model", "tokens_written", "calls", "sealed")
    list_filter = ("kind", "bench")
    list_select_related = ("debate",)
    search_fields = ("text", "debate__motion", "debate__token")


@admin.register(Verdict)
class VerdictAdmin(ReadOnly, admin.ModelAdmin):
    list_display = ("debate", "version", "outcome", "winner", "confidence", "given")
    list_filter = ("outcome",)
    list_select_related = ("debate",)
