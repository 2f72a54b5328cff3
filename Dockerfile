# One image for every process: the API by default, `node dist/worker.js`, `node dist/migrate.js` and `node dist/keys.js` by command.

FROM node:20.20.2-bookworm-slim AS manifests
WORKDIR /app
COPY package.json package-lock.json ./
COPY apps/api/package.json apps/api/
COPY apps/cli/package.json apps/cli/
COPY apps/engine/package.json apps/engine/
COPY apps/sdk/package.json apps/sdk/
COPY apps/standalone/package.json apps/standalone/
COPY apps/worker/package.json apps/worker/

FROM manifests AS build
RUN npm ci --ignore-scripts
COPY . .
RUN npm run prepare && npm run build

# Optional dependencies are programs for each platform, here the embedded Postgres: an image has no use for it, nor for
# what Prisma needs for other databases.
FROM manifests AS dependencies
RUN npm ci --ignore-scripts --omit=dev --omit=optional \
    && rm -r node_modules/@tandem \
    && find node_modules/@prisma/client/runtime -name 'query_compiler_*' ! -name '*.postgresql.*' -delete

FROM node:20.20.2-bookworm-slim
WORKDIR /app
ENV NODE_ENV=production \
    NODE_OPTIONS=--enable-source-maps \
    HOST=0.0.0.0
COPY --from=dependencies /app/node_modules node_modules
COPY prisma/migrations prisma/migrations
# Says that the programs are ES modules.
COPY package.json ./
COPY --from=build /app/dist dist
USER node
EXPOSE 3000
CMD ["node", "dist/api.js"]
