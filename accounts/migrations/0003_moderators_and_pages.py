"""The group of those who moderate, and the first words of the pages that every site must have."""

from pathlib import Path

from django.db import migrations

PAGES = Path(__file__).resolve().parent.parent / "pages"


def make_group(apps, schema_editor):
    apps.get_model("auth", "Group").objects.using(schema_editor.connection.alias).get_or_create(name="Moderators")


def write_pages(apps, schema_editor):
    pages = apps.get_model("accounts", "SitePage").objects.using(schema_editor.connection.alias)
    for path in sorted(PAGES.glob("*.txt")):
        title, text = path.read_text().split("\n\n", 1)
        pages.get_or_create(slug=path.stem, defaults={"title": title, "text": text.strip()})


class Migration(migrations.Migration):
    dependencies = [("accounts", "0002_sitepage"), ("auth", "0012_alter_user_first_name_max_length")]
    operations = [
        migrations.RunPython(make_group, migrations.RunPython.noop),
        migrations.RunPython(write_pages, migrations.RunPython.noop),
    ]
