# The command line for a cluster without AWS: one file on a slim Node image. deploy/kubernetes shows how to run it.
FROM node:24-slim AS build
WORKDIR /source
COPY package.json package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY . .
RUN npm run build

FROM node:24-slim
# Everything is in cli.mjs; messages use its other name.
COPY --from=build /source/dist/cli.mjs /source/LICENSE /source/THIRD-PARTY-NOTICES /opt/datahub-retention/
RUN ln -s /opt/datahub-retention/cli.mjs /usr/local/bin/datahub-retention
# A number, because Kubernetes cannot tell whether a name is root. Nothing in the image has to be writable.
USER 65532:65532
WORKDIR /opt/datahub-retention
# The exec form, so that signals reach the program, which then prints what is still running on the server.
ENTRYPOINT ["datahub-retention"]
