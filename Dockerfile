# Two stages: Bun builds one executable, and nothing but that executable is shipped.
#
#   docker build -t cloakroom .
#   docker run -p 8000:8000 -p 8080:8080 -v cloakroom-data:/var/lib/cloakroom cloakroom
#
# Without DB_HOST the embedded database lives in the volume, together with the keys that the first start
# makes (keys.env: back it up apart from the data). compose.yaml runs it with PostgreSQL.

FROM oven/bun:1.4.5 AS build
WORKDIR /build
COPY . .
RUN bun install --frozen-lockfile && bun src/dev/build.ts && mkdir -m 0700 data

# The executable needs the C library and nothing else: no shell, no package manager, no certificates
# (it carries its own).
FROM gcr.io/distroless/cc-debian12:nonroot
COPY --from=build /build/dist/cloakroom /usr/local/bin/cloakroom
# A new volume takes the owner of the directory that it is mounted over.
COPY --from=build --chown=nonroot:nonroot /build/data /var/lib/cloakroom
ENV HOST=0.0.0.0 DATA_DIR=/var/lib/cloakroom
USER nonroot
WORKDIR /var/lib/cloakroom
VOLUME /var/lib/cloakroom
EXPOSE 8000 8080
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 CMD ["cloakroom", "health"]
ENTRYPOINT ["cloakroom"]
CMD ["serve"]
