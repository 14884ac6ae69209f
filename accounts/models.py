"""Who you are: an e-mail address is the login, and a display name is what others see. And the pages of the house."""

from __future__ import annotations

from typing import Any, ClassVar

from allauth.account.models import EmailAddress
from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.models import PermissionsMixin
from django.db import models, transaction
from django.db.models.functions import Lower
from django.urls import reverse
from django.utils import timezone


class UserManager(BaseUserManager["User"]):
    def get_by_natural_key(self, username: str | None) -> User:
        return self.get(email__iexact=username)

    def create_user(self, email: str, password: str | None = None, *, confirmed: bool = False, **fields: Any) -> User:
        """A user who may sign in at once where the address counts as confirmed."""
        user = self.model(email=email.lower(), **fields)
        user.set_password(password)
        with transaction.atomic(using=self._db):
            user.save(using=self._db)
            if confirmed:
                EmailAddress.objects.using(self._db).create(user=user, email=user.email, primary=True, verified=True)
        return user

    def create_superuser(self, email: str, password: str | None = None, **fields: Any) -> User:
        """Made at the machine's own terminal, which is proof enough."""
        return self.create_user(email, password, confirmed=True, is_staff=True, is_superuser=True, **fields)


class User(AbstractBaseUser, PermissionsMixin):
    email = models.EmailField(unique=True)
    display_name = models.CharField(max_length=40, blank=True)
    is_active = models.BooleanField(default=True)
    is_staff = models.BooleanField(default=False)
    date_joined = models.DateTimeField(default=timezone.now)

    objects: ClassVar[UserManager] = UserManager()
    USERNAME_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []

    class Meta:
        constraints = (models.UniqueConstraint(Lower("email"), name="user_email_unique_whatever_the_case"),)

    def __str__(self) -> str:
        return self.display_name or self.email


class SitePage(models.Model):
    """Terms, privacy, contact: written by whoever runs the site, without a deploy."""

    class Slug(models.TextChoices):
        TERMS = "terms", "terms"
        PRIVACY = "privacy", "privacy"
        CONTACT = "contact", "contact"

    slug = models.CharField(max_length=10, primary_key=True, choices=Slug)
    title = models.CharField(max_length=80)
    text = models.TextField(help_text="Plain text. An empty line begins a paragraph; addresses become links.")
    changed = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ("slug",)

    def __str__(self) -> str:
        return self.title

    def get_absolute_url(self) -> str:
        return reverse(self.slug)
