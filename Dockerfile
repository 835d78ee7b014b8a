# The command line for a cluster without AWS: one file, and Node. kubernetes/ is the chart that runs it. Its bases are pinned
# by digest (of their indices, for all processors), and .github/dependabot.yml has them renewed. Of a private registry:
# --build-arg BUILD_IMAGE=REGISTRY/node:24-slim, the same for NODE_IMAGE, and BASE_IMAGE=REGISTRY/debian:trixie-slim.
ARG BUILD_IMAGE=node-here
ARG NODE_IMAGE=node-there
ARG BASE_IMAGE=debian
FROM --platform=$BUILDPLATFORM node:24-slim@sha256:a9f5f7c91a432850b2a8a7797adf5eadb6c733ceed61167806cee7ea7fbc29df AS node-here
FROM node:24-slim@sha256:a9f5f7c91a432850b2a8a7797adf5eadb6c733ceed61167806cee7ea7fbc29df AS node-there
FROM debian:trixie-slim@sha256:d7e12182ce18b85b93007c1dedf31f2d29e01ccf3182cc4017c709b6259bc132 AS debian

FROM ${BUILD_IMAGE} AS build
WORKDIR /source
COPY package.json package-lock.json ./
# --include=dev also where NODE_ENV is production: what builds is among the development dependencies. --secret id=npmrc names
# another registry and its token, --secret id=ca the certificates of it or of a proxy; neither stays in a layer.
RUN --mount=type=secret,id=npmrc,target=/root/.npmrc --mount=type=secret,id=ca,target=/run/secrets/ca \
    if [ -s /run/secrets/ca ]; then export NODE_EXTRA_CA_CERTS=/run/secrets/ca; fi; \
    npm ci --include=dev --no-audit --no-fund
COPY . .
# Which build it is: `./retention --version` prints it in a checkout. Without it, a digest of the sources says so.
ARG VERSION=""
RUN JOB_VERSION="$VERSION" npm run build && mkdir bin && ln -s /opt/datahub-retention/dist/cli.mjs bin/datahub-retention

FROM ${NODE_IMAGE} AS node

# Without npm, which nothing here needs and scanners find. Only copies: nothing runs for the other processor.
FROM ${BASE_IMAGE}
ARG VERSION=""
ARG COMMIT=""
LABEL org.opencontainers.image.title="datahub-retention" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$COMMIT"
WORKDIR /opt/datahub-retention
COPY --from=node /usr/local/bin/node /usr/local/bin/
# The layout of the package: dist/cli.mjs has everything but the runbook, which `datahub-retention runbook` prints.
COPY --from=build /source/LICENSE /source/THIRD-PARTY-NOTICES ./
COPY --from=build /source/dist/cli.mjs ./dist/
COPY --from=build /source/docs/runbook.md ./docs/
# Messages use this name.
COPY --from=build /source/bin/ /usr/local/bin/
# A number, because Kubernetes cannot tell whether a name is root. Nothing in the image has to be writable.
USER 65532:65532
# The exec form, so that signals reach the program, which then prints what is still running on the server.
ENTRYPOINT ["datahub-retention"]
