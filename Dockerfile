# The daemon on Node 24, with a redis-server for configs that name no Redis.
# It runs as any unprivileged user of group 0 on a read-only root, and writes only under /data.

FROM node:24-slim AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc scripts/strip-packages.sh ./
# No install scripts: production packages need none. The development copy of Node is left out.
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund \
 && sh strip-packages.sh

# The program as plain JavaScript with the packages that it uses: Node need not strip types, nor find a thousand files.
FROM node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json rolldown.config.ts ./
COPY src ./src
RUN node node_modules/rolldown/bin/cli.mjs -c
# What `tocsin --version`, the page and the metrics call its revision.
ARG REVISION=unknown
RUN printf '%.12s\n' "$REVISION" >dist/REVISION

FROM node:24-slim
# npm goes: nothing is installed any more. tini reaps children and forwards signals, even if the container is started without an init.
RUN apt-get update \
 && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends redis-server tini ca-certificates \
 && rm -rf /var/lib/apt/lists/* \
 && rm -rf /usr/local/lib/node_modules /opt/yarn* /usr/local/include/node \
 && rm -f /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack /usr/local/bin/yarn /usr/local/bin/yarnpkg
WORKDIR /app
# For what the config leaves out: data in the volume, a page that can be reached where its port is published, and an address
# for the health check that nobody outside reaches. With the host's network, set TOCSIN_OPS_LISTEN=127.0.0.1:9464.
ENV NODE_ENV=production \
    TOCSIN_DATA_DIR=/data/data \
    TOCSIN_OPS_LISTEN=0.0.0.0:9464 \
    TOCSIN_OPS_PROBES=127.0.0.1:9466 \
    XDG_CACHE_HOME=/data/.cache \
    TOCSIN_CONFIG=/etc/tocsin/tocsin.yaml
COPY --from=packages /app/node_modules ./node_modules
COPY package.json LICENSE ./
COPY config ./config
COPY deploy/wait-for-config.sh ./deploy/
COPY --from=build /app/dist ./dist
RUN chmod 755 dist/main.js deploy/wait-for-config.sh \
 && ln -s /app/dist/main.js /usr/local/bin/tocsin \
 && ln -s /app/deploy/wait-for-config.sh /usr/local/bin/wait-for-config \
 && mkdir -p /data /etc/tocsin \
 && chown 1000:0 /data && chmod 770 /data
# Numbers: Kubernetes has to see that it is not root. OpenShift replaces the first one, and leaves the group.
USER 1000:0
WORKDIR /data
VOLUME /data
EXPOSE 9464
# Healthy means: the daemon's loops run. A service or channel that is down is no reason to restart (see /readyz).
# If `ops.probes` has another port, set TOCSIN_HEALTH_URL.
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch(process.env.TOCSIN_HEALTH_URL ?? 'http://127.0.0.1:9466/livez', { signal: AbortSignal.timeout(4000) }).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# Last, so that another revision builds little else again: docker build --build-arg REVISION=$(git rev-parse HEAD) .
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Tocsin" \
      org.opencontainers.image.description="Forwards critical findings of a protocol-monitoring service to email, Telegram, Slack and webhooks" \
      org.opencontainers.image.version="0.1.0" \
      org.opencontainers.image.revision="$REVISION" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.base.name="docker.io/library/node:24-slim"
# A core dump would hold every secret.
ENTRYPOINT ["/usr/bin/tini", "--", "sh", "-c", "ulimit -c 0 && exec tocsin \"$@\"", "tocsin"]
CMD ["run"]
