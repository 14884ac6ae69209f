"""Pages and commands. The first line of a view fetches what it is about and authorises: what is private and what was
never there give the same 404."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.db import transaction
from django.db.models.functions import Now
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from accounts.models import User

from . import page, promptfiles, seating, sittings
from .documents import Unreadable, export
from .engine.formats import find_format
from .forms import ClashForm, ImportForm, SentBefore, ShareForm
from .log import tell
from .models import Debate, Sitting, is_token, new_token
from .samples import sample_tokens

KEPT = "claim"  # where a visitor's claim waits in the session until they have signed in
ASKED = ("claim", "length", "visibility")
ON_A_PAGE = 40


def _visible(request: HttpRequest, token: str) -> Debate:
    return get_object_or_404(Debate.objects.visible_to(request.user), token=token)


def _user(request: HttpRequest) -> User:
    """Who is signed in; asked for only where somebody is."""
    assert isinstance(request.user, User)
    return request.user


def _owned(request: HttpRequest, token: str) -> Debate:
    return get_object_or_404(Debate.objects.owned_by(request.user), token=token)


def _unlisted(response: HttpResponse) -> HttpResponse:
    """Marks a page that only those with the link may know of."""
    response["X-Robots-Tag"] = "noindex, nofollow"
    return response


@require_safe
def front(request: HttpRequest) -> HttpResponse:
    tokens = sample_tokens()
    samples = list(Debate.objects.visible_to(request.user).filter(token__in=tokens))
    samples.sort(key=lambda sample: tokens.index(sample.token))
    shown = page.load(samples[0], autoplay=True) if samples else {}
    return render(request, "debates/front.html", shown | {"others": samples[1:]} | _form_page(ClashForm()))


@never_cache
def new(request: HttpRequest) -> HttpResponse:
    """The form by itself; sending it starts a debate. A visitor signs up first, and the claim is kept."""
    if request.method != "POST":
        return render(request, "debates/new.html", _form_page(ClashForm(initial=request.session.get(KEPT))))
    form = ClashForm(request.POST)
    if not form.is_valid():
        return render(request, "debates/new.html", _form_page(form), status=422)
    if not request.user.is_authenticated:
        request.session[KEPT] = {name: form.cleaned_data[name] for name in ASKED}
        return redirect(reverse("account_signup", query={"next": request.path}))
    return _started(request, form)


def _started(request: HttpRequest, form: ClashForm) -> HttpResponse:
    try:
        debate = form.save(_user(request))
    except seating.NobodyToSpeak as nobody:
        form.add_error(None, str(nobody))
        return render(request, "debates/new.html", _form_page(form), status=503)
    except SentBefore as before:
        again = ClashForm(initial={name: form.cleaned_data[name] for name in ASKED})
        return render(request, "debates/new.html", _form_page(again) | {"before": before.debate}, status=409)
    request.session.pop(KEPT, None)
    return redirect(debate)


def _form_page(form: ClashForm) -> dict[str, Any]:
    """The form, and beside its button who will read the text."""
    try:
        reads = seating.who_reads(seating.deal(find_format("clash"), b""))
    except seating.NobodyToSpeak as nobody:
        reads = str(nobody)
    return {"form": form, "reads": reads}


@login_required
@require_safe
def debates(request: HttpRequest) -> HttpResponse:
    return render(request, "debates/debates.html", _debates_page(request, ImportForm()))


def _debates_page(request: HttpRequest, form: ImportForm) -> dict[str, Any]:
    sought = request.GET.get("q", "").replace("\0", "").strip()
    mine = Debate.objects.owned_by(request.user).holding(sought).prefetch_related("sittings", "verdicts")
    on_page = Paginator(mine, ON_A_PAGE).get_page(request.GET.get("page"))
    token = request.GET.get("deleted", "")
    gone = Debate.objects.deleted_by(request.user).filter(token=token).first() if is_token(token) else None
    rows = [page.row(debate) for debate in on_page]
    return {"page": on_page, "rows": rows, "sought": sought, "gone": gone, "form": form}


@never_cache
@require_safe
def debate(request: HttpRequest, token: str) -> HttpResponse:
    debate = _visible(request, token)
    owns = request.user.is_authenticated and debate.owner_id == request.user.pk  # a sample's owner is None
    context = page.load(debate) | {"owns": owns, "share": ShareForm(instance=debate)}
    return _unlisted(render(request, "debates/debate.html", context))


@require_safe
def document(request: HttpRequest, token: str) -> HttpResponse:
    """The debate as one JSON document (docs/document.md), which can be imported again."""
    debate = _visible(request, token)
    answer = JsonResponse(export(debate).as_dict(), json_dumps_params={"ensure_ascii": False, "indent": 1})
    answer["Content-Disposition"] = f'attachment; filename="crossbench-{debate.token[:6]}.json"'
    return _unlisted(answer)


@login_required
@require_POST
def import_debate(request: HttpRequest) -> HttpResponse:
    """Makes a labelled replay of a document that its owner alone can see; what can't be read is said above the list."""
    form = ImportForm(request.POST, request.FILES)
    if form.is_valid():
        try:
            return redirect(form.save(_user(request)))
        except Unreadable as error:
            form.add_error("file", str(error))
    return render(request, "debates/debates.html", _debates_page(request, form), status=422)


@require_POST
def stop(request: HttpRequest, token: str) -> HttpResponse:
    debate = _owned(request, token)
    sittings.stop(debate)
    return redirect(debate)


@require_POST
def go_on(request: HttpRequest, token: str) -> HttpResponse:
    debate = _owned(request, token)
    sittings.go_on(debate)
    return redirect(debate)


@require_POST
def judge_again(request: HttpRequest, token: str) -> HttpResponse:
    """Opens a fresh judgement of a debate that has been judged, or that could not be. Asked for often, it opens one."""
    debate = _owned(request, token)
    with transaction.atomic():
        Debate.objects.select_for_update(no_key=True).get(pk=debate.pk)
        if debate.may_be_judged() and not debate.sittings.open().exists():
            sittings.open_sitting(debate, Sitting.Kind.JUDGEMENT, _user(request), promptfiles.keep(debate.format))
    return redirect(debate)


@require_POST
def delete(request: HttpRequest, token: str) -> HttpResponse:
    """Takes a debate away from everybody at once; for a day its owner can bring it back."""
    debate = _owned(request, token)
    sittings.stop(debate)
    Debate.objects.filter(pk=debate.pk).update(deleted=Now())
    tell(debate.pk, "access")
    return redirect(reverse("debates", query={"deleted": debate.token}))


@require_POST
def undelete(request: HttpRequest, token: str) -> HttpResponse:
    debate = get_object_or_404(Debate.objects.deleted_by(request.user), token=token)
    Debate.objects.filter(pk=debate.pk).update(deleted=None)
    return redirect("debates")


@require_POST
def share(request: HttpRequest, token: str) -> HttpResponse:
    debate = _owned(request, token)
    form = ShareForm(request.POST, instance=debate)
    if form.is_valid():
        form.instance.save(update_fields=["visibility"])
        tell(debate.pk, "access")
    return redirect(debate)


@require_POST
def renew_link(request: HttpRequest, token: str) -> HttpResponse:
    """Gives the debate another address; the old one is gone, for those who are watching too."""
    debate = _owned(request, token)
    debate.token = new_token()
    debate.save(update_fields=["token"])
    tell(debate.pk, "access")
    return redirect(debate)
