"""Every setting, from the environment. A value that can't be read raises here, at the start, by name.

Settings load without DATABASE_URL, REDIS_URL and LOCAL_MODEL_URL, so that `manage.py services` can start
what those will name.
"""

from pathlib import Path

import environ
from django.core.exceptions import ImproperlyConfigured
from redis.backoff import NoBackoff
from redis.retry import Retry

from embedded import running

BASE_DIR = Path(__file__).resolve().parent.parent
env = environ.Env()

VAR = Path(env.str("CROSSBENCH_VAR", default=str(BASE_DIR / "var")))
WEIGHTS = Path(env.str("CROSSBENCH_CACHE", default="~/.cache/crossbench/weights")).expanduser()
if not env.str("DATABASE_URL", default=""):
    # A bare command finds the servers that `manage.py up` or `services` runs; what the environment says comes first.
    env.ENVIRON = running.environment(VAR) | dict(env.ENVIRON)
DEBUG = env.bool("DEBUG", default=False)
DEFAULT_SECRET_KEY = "insecure: for commands that serve nobody"
SECRET_KEY = env.str("SECRET_KEY", default=DEFAULT_SECRET_KEY)
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=["localhost", "127.0.0.1", "[::1]"])
SITE_URL = env.str("SITE_URL", default="http://localhost:8000")
# `manage.py up` sets this for the servers that it starts: mail lands in var/mail and may be read from loopback.
UNDER_UP = env.bool("CROSSBENCH_UP", default=False)
if SECRET_KEY == DEFAULT_SECRET_KEY and not DEBUG and not set(ALLOWED_HOSTS) <= {"localhost", "127.0.0.1", "[::1]"}:
    raise ImproperlyConfigured("Set SECRET_KEY: a site that serves other hosts refuses the default one.")
CSRF_TRUSTED_ORIGINS = env.list("CSRF_TRUSTED_ORIGINS", default=[])

INSTALLED_APPS = [
    "accounts.apps.AdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "allauth.usersessions",
    "accounts.apps.AccountsConfig",
    "debates",
    "embedded",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "csp.middleware.CSPMiddleware",
    "allauth.account.middleware.AccountMiddleware",
]
ROOT_URLCONF = "config.urls"
ASGI_APPLICATION = "config.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]

# PostgreSQL holds the truth. One connection a database thread; the web process adds its request threads.
DATABASE_THREADS = 4
REQUEST_THREADS = env.int("REQUEST_THREADS", default=8)
DATABASES = {}
if env.str("DATABASE_URL", default=""):
    DATABASES["default"] = env.db_url("DATABASE_URL", engine="django.db.backends.postgresql") | {
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": {
            # The wait for a connection stays below a third of a sitting's lease (15 s).
            "pool": {"min_size": 1, "max_size": DATABASE_THREADS + REQUEST_THREADS, "timeout": 4},
            "connect_timeout": 3,
        },
    }
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# Redis holds only what may be lost: hints, logs, the text of turns now being spoken, limits.
REDIS_URL = env.str("REDIS_URL", default="redis://127.0.0.1:6379/0")
CACHES = {
    "default": {
        "BACKEND": "accounts.cache.RedisOrMemory",
        "LOCATION": REDIS_URL,
        "OPTIONS": {"socket_timeout": 2, "socket_connect_timeout": 1, "retry": Retry(NoBackoff(), 0)},
    }
}

AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = [
    "django.contrib.auth.backends.ModelBackend",
    "allauth.account.auth_backends.AuthenticationBackend",
]
AUTH_PASSWORD_VALIDATORS = [{"NAME": "accounts.passwords.NotEasyToGuess"}]
LOGIN_REDIRECT_URL = "/"
LOGIN_URL = "account_login"
ACCOUNT_ADAPTER = "accounts.adapter.AccountAdapter"
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*"]
# Nobody is signed in before the address is confirmed. A code instead of a link: the letter may be read on a phone, and
# the claim that a visitor typed waits in this browser's session.
ACCOUNT_EMAIL_VERIFICATION = "mandatory"
ACCOUNT_EMAIL_VERIFICATION_BY_CODE_ENABLED = True
ACCOUNT_EMAIL_VERIFICATION_BY_CODE_MAX_ATTEMPTS = 5
ACCOUNT_EMAIL_VERIFICATION_SUPPORTS_CHANGE = ACCOUNT_EMAIL_VERIFICATION_SUPPORTS_RESEND = True
ACCOUNT_CHANGE_EMAIL = True
ACCOUNT_EMAIL_NOTIFICATIONS = True
ACCOUNT_EMAIL_SUBJECT_PREFIX = "Crossbench: "
ACCOUNT_LOGIN_ON_PASSWORD_RESET = True
ACCOUNT_LOGOUT_ON_GET = False
ACCOUNT_REAUTHENTICATION_REQUIRED = True
ACCOUNT_SESSION_REMEMBER = True
# Proxies in front of us. Limits by address trust the X-Forwarded-For of those alone, from the right.
ALLAUTH_TRUSTED_PROXY_COUNT = env.int("TRUSTED_PROXIES", default=1 if env.bool("SECURE_SSL", default=False) else 0)
MFA_ADAPTER = "accounts.adapter.MFAAdapter"
MFA_SUPPORTED_TYPES = ["webauthn", "totp", "recovery_codes"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN = UNDER_UP
MFA_TOTP_ISSUER = "Crossbench"
MFA_TOTP_TOLERANCE = 1
MFA_FORMS = {"add_webauthn": "accounts.forms.AddPasskeyForm"}

# Sign-in with GitHub, where it is configured; GITHUB_URL names an Enterprise server.
GITHUB_CLIENT_ID = env.str("GITHUB_CLIENT_ID", default="")
GITHUB_URL = env.str("GITHUB_URL", default="")
SOCIALACCOUNT_ADAPTER = "accounts.adapter.SocialAccountAdapter"
SOCIALACCOUNT_PROVIDERS = {}
if GITHUB_CLIENT_ID:
    INSTALLED_APPS.append("allauth.socialaccount.providers.github")
    SOCIALACCOUNT_PROVIDERS["github"] = {
        "APPS": [{"client_id": GITHUB_CLIENT_ID, "secret": env.str("GITHUB_CLIENT_SECRET")}],
        # GitHub confirms addresses itself: who has one of an account's confirmed addresses there is its owner here.
        "EMAIL_AUTHENTICATION": True,
        "OAUTH_PKCE_ENABLED": True,
    } | ({"GITHUB_URL": GITHUB_URL} if GITHUB_URL else {})

# EMAIL_URL is smtp://user:password@host:port, smtp+tls://… and the like. Without it, letters land in var/mail.
EMAIL_CONFIG = env.email_url("EMAIL_URL", default="filemail://")
EMAIL_BACKEND = EMAIL_CONFIG["EMAIL_BACKEND"]
EMAIL_FILE_PATH = str(VAR / "mail")
EMAIL_HOST, EMAIL_PORT = EMAIL_CONFIG["EMAIL_HOST"], EMAIL_CONFIG["EMAIL_PORT"]
EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = EMAIL_CONFIG["EMAIL_HOST_USER"], EMAIL_CONFIG["EMAIL_HOST_PASSWORD"]
EMAIL_USE_TLS, EMAIL_USE_SSL = EMAIL_CONFIG.get("EMAIL_USE_TLS", False), EMAIL_CONFIG.get("EMAIL_USE_SSL", False)
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = env.str("DEFAULT_FROM_EMAIL", default="Crossbench <crossbench@localhost>")

SESSION_COOKIE_HTTPONLY = True
SECURE_SSL = env.bool("SECURE_SSL", default=False)
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_SSL
SECURE_HSTS_SECONDS = 31_536_000 if SECURE_SSL else 0
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if SECURE_SSL else None
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'none'"],
        "script-src": ["'self'"],
        "style-src": ["'self'"],
        "img-src": ["'self'", "data:"],
        "font-src": ["'self'"],
        "connect-src": ["'self'"],
        # A form's redirects count too, and GitHub's sign-in is one.
        "form-action": ["'self'"] + ([GITHUB_URL or "https://github.com"] if GITHUB_CLIENT_ID else []),
        "base-uri": ["'none'"],
        "frame-ancestors": ["'none'"],
    }
}

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True
STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATIC_ROOT = BASE_DIR / "staticfiles"
WHITENOISE_USE_FINDERS = True

# The row is the queue; a Celery message is only a hint, so it is acknowledged early and never retried.
CELERY_BROKER_URL = REDIS_URL
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "socket_timeout": 2,
    "socket_connect_timeout": 2,
    "max_retries": 1,
    "interval_start": 0,
    "interval_max": 0.2,
}
CELERY_TASK_PUBLISH_RETRY = True
CELERY_TASK_PUBLISH_RETRY_POLICY = {"max_retries": 1, "interval_start": 0, "interval_max": 0.2}
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_DEFAULT_QUEUE = "work"
CELERY_TASK_ROUTES = {"debates.run_sitting": {"queue": "debates"}}
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False

# Models. A ring is a comma-separated list; the singular name works too.
LOCAL_MODEL_URL = env.str("LOCAL_MODEL_URL", default="")


def key_ring(provider: str) -> list[str]:
    """The site's keys for a provider, in order, from OPENAI_API_KEYS or OPENAI_API_KEY and the like."""
    keys = env.list(f"{provider}_API_KEYS", default=[]) or env.list(f"{provider}_API_KEY", default=[])
    return [key.strip() for key in keys if key.strip()]


API_KEYS = {name.lower(): key_ring(name) for name in ("OPENAI", "ANTHROPIC", "MISTRAL", "OPENROUTER")}
# The base URL of each OpenAI-compatible provider; an override serves proxies and tests.
BASE_URLS = {
    "openai": env.str("OPENAI_BASE_URL", default="https://api.openai.com/v1"),
    "mistral": env.str("MISTRAL_BASE_URL", default="https://api.mistral.ai/v1"),
    "openrouter": env.str("OPENROUTER_BASE_URL", default="https://openrouter.ai/api/v1"),
    "local": LOCAL_MODEL_URL,
}
LOCAL_MODEL_NAME = env.str("LOCAL_MODEL_NAME", default="local model")
# The model that a bench gets where nobody chose one, in order of preference.
DEFAULT_MODELS = {
    "openrouter": env.str("OPENROUTER_MODEL", default="anthropic/claude-sonnet-4.5"),
    "openai": env.str("OPENAI_MODEL", default="gpt-5-mini"),
    "mistral": env.str("MISTRAL_MODEL", default="mistral-large-latest"),
    "local": LOCAL_MODEL_NAME,
}
# Seconds a sitting is held without a sign of life, and how often it may be begun before it counts as failed.
LEASE_SECONDS = env.int("LEASE_SECONDS", default=15)
SITTING_ATTEMPTS = env.int("SITTING_ATTEMPTS", default=5)

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s %(message)s"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["stderr"], "level": env.str("LOG_LEVEL", default="INFO")},
    "loggers": {
        "httpx2": {"level": "WARNING"},
        "openai": {"level": "WARNING"},
        "daphne.http_protocol": {"level": "WARNING"},
    },
}
