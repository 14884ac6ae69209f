from django.http import HttpRequest, HttpResponse


def front(request: HttpRequest) -> HttpResponse:
    return HttpResponse("Crossbench")


def debate(request: HttpRequest, token: str) -> HttpResponse:
    return HttpResponse(token)
