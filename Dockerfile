# The command line for a cluster without AWS: one file on a slim Node. How it runs there: deploy/kubernetes.
FROM node:24-slim AS build
WORKDIR /source
COPY package.json package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY . .
RUN npm run build

FROM node:24-slim
# Everything is in cli.mjs. Its other name is the one that messages use.
COPY --from=build /source/dist/cli.mjs /source/LICENSE /source/THIRD-PARTY-NOTICES /opt/datahub-retention/
RUN ln -s /opt/datahub-retention/cli.mjs /usr/local/bin/datahub-retention
# A number, because Kubernetes cannot know of a name that it is not root. Nothing of the image has to be written.
USER 65532:65532
WORKDIR /opt/datahub-retention
# The exec form: signals reach the program, which says what goes on without it.
ENTRYPOINT ["datahub-retention"]
