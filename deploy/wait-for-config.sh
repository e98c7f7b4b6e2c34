#!/bin/sh
# The containers of the compose files start with this. Without a config, or with a wrong one, it says once what to do, and
# starts the daemon as soon as it can: no compose knows an exit code that ends the restarts. Other commands run at once.
set -u

if [ "${1:-}" = run ] && [ ! -s "$TOCSIN_CONFIG" ]; then
  echo "There is no config/tocsin.yaml yet. Make it, ${TOCSIN_CONFIG_HINT:-with tocsin init in the checkout, or from config/tocsin.example.yaml}."
  echo 'The daemon waits for the file, and starts as soon as it is there.'
  until [ -s "$TOCSIN_CONFIG" ]; do sleep 1; done
fi

said=
while [ "${1:-}" = run ] && ! problems=$(tocsin check 2>&1); do
  if [ "$problems" != "$said" ]; then
    printf '%s\n' "$problems" 'The daemon waits until the config is right. After a change of .env: docker compose up -d'
  fi
  said=$problems
  sleep 5
done
exec tocsin "$@"
