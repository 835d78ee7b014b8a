# The command line for a cluster without AWS: one file on a slim Node image. kubernetes/ is the chart that runs it.
# Of a private registry: --build-arg NODE_IMAGE=REGISTRY/node:24-slim
ARG NODE_IMAGE=node:24-slim
FROM ${NODE_IMAGE} AS build
WORKDIR /source
COPY package.json package-lock.json ./
# --include=dev also where NODE_ENV is production: what builds is among the development dependencies. --secret id=npmrc names
# another registry and its token, --secret id=ca the certificates of it or of a proxy; neither stays in a layer.
RUN --mount=type=secret,id=npmrc,target=/root/.npmrc --mount=type=secret,id=ca,target=/run/secrets/ca \
    if [ -s /run/secrets/ca ]; then export NODE_EXTRA_CA_CERTS=/run/secrets/ca; fi; \
    npm ci --include=dev --no-audit --no-fund
COPY . .
RUN npm run build

FROM ${NODE_IMAGE}
WORKDIR /opt/datahub-retention
# The layout of the package: dist/cli.mjs has everything but the runbook, which `datahub-retention runbook` prints.
COPY --from=build /source/LICENSE /source/THIRD-PARTY-NOTICES ./
COPY --from=build /source/dist/cli.mjs ./dist/
COPY --from=build /source/docs/runbook.md ./docs/
# Messages use this name.
RUN ln -s /opt/datahub-retention/dist/cli.mjs /usr/local/bin/datahub-retention
# A number, because Kubernetes cannot tell whether a name is root. Nothing in the image has to be writable.
USER 65532:65532
# The exec form, so that signals reach the program, which then prints what is still running on the server.
ENTRYPOINT ["datahub-retention"]
