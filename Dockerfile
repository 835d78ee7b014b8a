# The command line for a cluster without AWS: one file, and Node. kubernetes/ is the chart that runs it. The bases are
# pinned by digest (of their indices, for all processors); .github/dependabot.yml has them renewed.
FROM --platform=$BUILDPLATFORM node:24-slim@sha256:a9f5f7c91a432850b2a8a7797adf5eadb6c733ceed61167806cee7ea7fbc29df AS build
WORKDIR /source
COPY package.json package-lock.json ./
# Also where NODE_ENV is production: what builds is among the development dependencies.
RUN npm ci --include=dev --no-audit --no-fund
COPY . .
# Which build it is: `./retention --version` prints it in a checkout. Without it, a digest of the sources says so.
ARG VERSION=""
RUN JOB_VERSION="$VERSION" npm run build && mkdir bin && ln -s /opt/datahub-retention/dist/cli.mjs bin/datahub-retention

FROM node:24-slim@sha256:a9f5f7c91a432850b2a8a7797adf5eadb6c733ceed61167806cee7ea7fbc29df AS node

# Without npm, which nothing here needs and scanners find. Only copies: nothing runs for the other processor.
FROM debian:trixie-slim@sha256:d7e12182ce18b85b93007c1dedf31f2d29e01ccf3182cc4017c709b6259bc132
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
