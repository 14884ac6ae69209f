"""The Celery application. Web code sends hints through it by name and never imports a task."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("crossbench")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
