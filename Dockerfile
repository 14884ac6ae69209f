# The site without its embedded servers: docker-compose.yml runs those as containers of their own.
FROM python:3.11-slim
ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
WORKDIR /srv
COPY requirements/base.txt requirements/base.txt
RUN pip install --no-cache-dir --require-hashes --requirement requirements/base.txt
COPY . .
RUN python manage.py collectstatic --noinput \
    && useradd --system --no-create-home crossbench \
    && install --directory --owner crossbench var
USER crossbench
EXPOSE 8000
CMD ["daphne", "-b", "0.0.0.0", "-p", "8000", "--ping-interval", "5", "--ping-timeout", "5", "--proxy-headers", "config.asgi:application"]
