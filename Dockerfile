# The command line for a cluster without AWS: one file on a slim Node image. kubernetes/ is the chart that runs it.
FROM node:24-slim AS build
WORKDIR /source
COPY package.json package-lock.json ./
# Also where NODE_ENV is production: what builds is among the development dependencies.
RUN npm ci --include=dev --no-audit --no-fund
COPY . .
RUN npm run build

FROM node:24-slim
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
