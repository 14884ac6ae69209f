"""Who is let in, who is sent away while connected, and what a hostile page can do: nothing."""

from __future__ import annotations

import asyncio
import contextlib
import json
from importlib import import_module

import pytest
from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from websockets.exceptions import ConnectionClosed, InvalidStatus

from accounts.models import User
from debates.admission import same_origin
from debates.database import in_db
from debates.log import tell
from debates.models import Debate, new_token

from .stage import make_debate, on_stage, run
from .viewer import Viewer

BACKEND = "django.contrib.auth.backends.ModelBackend"


def sign_in(user: User) -> str:
    """A session's cookie."""
    session = import_module(settings.SESSION_ENGINE).SessionStore()
    session.update(
        {SESSION_KEY: str(user.pk), BACKEND_SESSION_KEY: BACKEND, HASH_SESSION_KEY: user.get_session_auth_hash()}
    )
    session.create()
    return session.session_key


@pytest.fixture
def alice(transactional_db) -> User:
    return User.objects.create_user("alice@example.org", "correct horse battery")


@pytest.fixture
def bob(transactional_db) -> User:
    return User.objects.create_user("bob@example.org", "correct horse battery")


@pytest.fixture
def private(alice, valkey) -> Debate:
    return make_debate(alice, Debate.Visibility.PRIVATE)


def headers(host: str | None, origin: str | None) -> list[tuple[bytes, bytes]]:
    pairs = [(b"host", host), (b"origin", origin)]
    return [(name, value.encode()) for name, value in pairs if value is not None]


@pytest.mark.hard_case("B61")
@pytest.mark.parametrize(
    "origin",
    [
        *(None, "null", "", "http://evil.example", "http://good.example.evil", "http://evil.good.example"),
        *("http://good.example:8001", "http://good.example@evil.example", "http://good.example/", "good.example"),
        *("ftp://good.example", "http://good.example, http://evil.example", "file://"),
    ],
)
def test_a_foreign_null_or_missing_origin_is_not_ours(settings, origin):
    settings.ALLOWED_HOSTS = ["good.example"]
    assert not same_origin(headers("good.example", origin))


@pytest.mark.parametrize("origin", ["http://good.example", "https://good.example", "HTTPS://Good.Example"])
def test_our_own_origin_is_ours(settings, origin):
    settings.ALLOWED_HOSTS = ["good.example"]
    assert same_origin(headers("good.example", origin))


def test_the_host_must_be_ours_too(settings):
    settings.ALLOWED_HOSTS = ["good.example"]
    assert not same_origin(headers("evil.example", "http://evil.example"))
    assert not same_origin(headers(None, "http://good.example"))


def test_two_origins_are_none(settings):
    settings.ALLOWED_HOSTS = ["good.example"]
    twice = headers("good.example", "http://good.example") + headers(None, "http://good.example")
    assert not same_origin(twice)


def test_an_encrypted_site_refuses_its_own_plain_origin(settings):
    settings.ALLOWED_HOSTS, settings.SECURE_SSL = ["good.example"], True
    assert not same_origin(headers("good.example", "http://good.example"))
    assert same_origin(headers("good.example", "https://good.example"))


@pytest.mark.hard_case("B61")
@pytest.mark.parametrize("origin", [None, "null", "http://evil.example", "http://127.0.0.1:1"])
def test_a_socket_of_a_foreign_page_is_refused_before_it_is_accepted(debate, daphne, origin):
    async def main():
        with pytest.raises(InvalidStatus) as refusal:
            async with Viewer(daphne.port, debate.token).connect(origin=origin):
                pass
        assert refusal.value.response.status_code == 403

    run(main())


def test_an_unknown_address_is_refused_without_a_traceback(debate, daphne):
    async def main():
        viewer = Viewer(daphne.port, "x")
        with pytest.raises(InvalidStatus):
            async with viewer.connect(viewer.url.replace("/ws/d/x/", "/ws/nowhere/")):
                pass

    run(main())
    assert "Traceback" not in daphne.log.read_text()


async def sent_away(viewer: Viewer) -> bool:
    """Whether the socket is closed with 4404 before a single frame."""
    return await viewer.watch() == 4404 and viewer.page.frames == 0


@pytest.mark.hard_case("B61")
@pytest.mark.parametrize("token", ["A" * 22, "short", "%00" * 22, "Ä" * 22, "A" * 5000])
def test_what_is_not_there_looks_like_what_may_not_be_seen(debate, daphne, token):
    async def main():
        assert await sent_away(Viewer(daphne.port, token))

    run(main())


@pytest.mark.hard_case("B61")
def test_alice_owns_it_bob_and_charlie_may_not_see_it(private, daphne, alice, bob):
    async def main():
        assert await sent_away(Viewer(daphne.port, private.token))
        assert await sent_away(Viewer(daphne.port, private.token, await in_db(sign_in, bob)))
        assert await sent_away(Viewer(daphne.port, private.token, "no-such-session"))
        owner = Viewer(daphne.port, private.token, await in_db(sign_in, alice))
        watching = asyncio.create_task(owner.watch())
        await owner.until(lambda page: page.state.get("state") == "queued")
        watching.cancel()

    run(main())


def test_a_blocked_user_is_nobody(private, daphne, alice):
    async def main():
        cookie = await in_db(sign_in, alice)
        await in_db(User.objects.filter(pk=alice.pk).update, is_active=False)
        assert await sent_away(Viewer(daphne.port, private.token, cookie))

    run(main())


@pytest.mark.hard_case("B61")
def test_when_access_is_revoked_only_the_owner_stays(alice, bob, valkey, daphne):
    debate = make_debate(alice)

    async def main():
        async with on_stage(debate) as stage:
            cookies = [await in_db(sign_in, user) for user in (alice, bob)]
            owner, signed_in, anyone = [Viewer(daphne.port, debate.token, cookie) for cookie in [*cookies, ""]]
            watching = [asyncio.create_task(viewer.watch()) for viewer in (owner, signed_in, anyone)]
            stage.start(1)
            stage.say(1, "Cars ")
            for viewer in (owner, signed_in, anyone):
                await viewer.until(lambda page: page.open.get(1, {}).get("text") == "Cars ")
            await in_db(Debate.objects.filter(pk=debate.pk).update, visibility=Debate.Visibility.PRIVATE)
            await in_db(tell, debate.pk, "access")
            assert await asyncio.gather(*watching[1:]) == [4404, 4404]
            stage.say(1, "are old.")
            await owner.until(lambda page: page.open[1]["text"] == "Cars are old.")
            assert anyone.page.open[1]["text"] == "Cars "
            watching[0].cancel()

    run(main())


def test_a_renewed_link_and_a_sign_out_end_what_came_by_the_old_one(private, alice, daphne):
    async def main():
        cookie = await in_db(sign_in, alice)
        viewer = Viewer(daphne.port, private.token, cookie)
        watching = asyncio.create_task(viewer.watch())
        await viewer.until(lambda page: page.snapshots > 0)
        await in_db(import_module(settings.SESSION_ENGINE).SessionStore(cookie).delete)
        await in_db(tell, private.pk, "access")
        assert await watching == 4404
        other = Viewer(daphne.port, private.token, await in_db(sign_in, alice))
        watching = asyncio.create_task(other.watch())
        await other.until(lambda page: page.snapshots > 0)
        await in_db(Debate.objects.filter(pk=private.pk).update, token=new_token())
        await in_db(tell, private.pk, "access")
        assert await watching == 4404

    run(main())


@pytest.mark.hard_case("B62")
@pytest.mark.parametrize(
    "frame",
    [
        *(b"\x00\x01", b'{"at":"1-1"}', "", "hello", "[]", '["at"]', '"1-1"', "null", "{}", '{"at":1}', '{"at":null}'),
        *('{"at":"1-1","more":1}', '{"t":"stop"}', '{"at":"x"}', '{"at":"1-1"}' + " " * 2000, "[" * 1000),
        *('{"at":"' + "9" * 900 + '-1"}', '{"at":"-1-1"}', '{"at":"1-1"}\n{"at":"1-1"}', "\ufeff{}"),
    ],
    ids=repr,
)
def test_a_malformed_frame_closes_its_own_socket_only(debate, daphne, frame):
    async def main():
        async with on_stage(debate) as stage:
            other, hostile = Viewer(daphne.port, debate.token), Viewer(daphne.port, debate.token)
            watching = [asyncio.create_task(viewer.watch()) for viewer in (other, hostile)]
            for viewer in (other, hostile):
                await viewer.until(lambda page: page.snapshots > 0)
            await hostile.socket.send(frame)
            assert await watching[1] == 4400
            await stage.speak(1, "undisturbed")
            await other.until(lambda page: 1 in page.turns)
            watching[0].cancel()

    run(main())
    assert "Traceback" not in daphne.log.read_text()


@pytest.mark.hard_case("B62")
def test_a_huge_frame_and_a_flood_disturb_nobody(debate, daphne):
    async def flood(viewer: Viewer) -> None:
        with contextlib.suppress(ConnectionClosed):
            while True:
                await viewer.socket.send('{"at":"1-1"}')
                await asyncio.sleep(0)  # a write doesn't wait, and nothing would be read

    async def main():
        async with on_stage(debate) as stage:
            viewers = [Viewer(daphne.port, debate.token) for _ in range(3)]
            watching = [asyncio.create_task(viewer.watch()) for viewer in viewers]
            for viewer in viewers:
                await viewer.until(lambda page: page.snapshots > 0)
            huge, flooding, other = viewers
            await asyncio.gather(huge.socket.send("x" * 2_000_000), flood(flooding))
            assert await watching[0] in (1006, 1009)
            assert await watching[1] == 4400
            await stage.speak(1, "undisturbed")
            await other.until(lambda page: 1 in page.turns)
            watching[2].cancel()

    run(main())


def test_a_page_may_acknowledge_as_often_as_it_should(debate, daphne):
    async def main():
        async with on_stage(debate) as stage:
            viewer = Viewer(daphne.port, debate.token)
            watching = asyncio.create_task(viewer.watch())
            await viewer.until(lambda page: page.snapshots > 0)
            for _ in range(30):
                await viewer.socket.send(json.dumps({"at": viewer.page.at}))
            await stage.finish()
            assert await watching == 1000

    run(main())
