from __future__ import annotations

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.adapter import get_adapter
from allauth.usersessions.models import UserSession
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from .forms import DisplayNameForm
from .models import SitePage, User


@never_cache
@login_required
def account(request: HttpRequest) -> HttpResponse:
    """The display name, and ways to everything else that is one's own."""
    assert isinstance(request.user, User)
    user = User.objects.get(pk=request.user.pk)  # apart from request.user, which the page's head shows
    form = DisplayNameForm(request.POST or None, instance=user)
    if request.method == "POST" and form.is_valid():
        form.save()
        messages.success(request, "The display name is saved.")
        return redirect("account")
    keys = Authenticator.objects.filter(user=user).values_list("type", flat=True)
    context = {
        "form": form,
        "new_address": EmailAddress.objects.get_new(user),
        "passkeys": sum(key == Authenticator.Type.WEBAUTHN for key in keys),
        "code_app": Authenticator.Type.TOTP in keys,
        "sessions": UserSession.objects.filter(user=user).count(),
        "providers": get_adapter().list_providers(request),
    }
    return render(request, "account/account.html", context, status=422 if form.errors else 200)


@require_safe
def site_page(request: HttpRequest, slug: str) -> HttpResponse:
    return render(request, "pages/site_page.html", {"page": get_object_or_404(SitePage, slug=slug)})


@require_safe
def robots(request: HttpRequest) -> HttpResponse:
    return render(request, "robots.txt", content_type="text/plain")
