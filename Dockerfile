# Two stages: Bun builds one executable, and nothing but that executable is shipped. docs/guides/containers.md says how it
# is run: alone, by compose.yaml, or on Kubernetes.
#
#   docker build -t cloakroom .
#   docker run --read-only -p 127.0.0.1:8000:8000 -p 127.0.0.1:8080:8080 -v cloakroom-data:/var/lib/cloakroom cloakroom

FROM oven/bun:1.4.5 AS build
WORKDIR /build
# The packages change less often than the program. The console is built with development packages.
COPY package.json bun.lock ./
RUN bun install --frozen-lockfile --ignore-scripts
COPY . .
RUN bun src/dev/build.ts && mkdir -m 0700 data

# The executable needs the C library and nothing else: no shell, no package manager, no certificates
# (it carries its own).
FROM gcr.io/distroless/cc-debian12:nonroot
LABEL org.opencontainers.image.title="Cloakroom" \
      org.opencontainers.image.description="A zero-knowledge store and broker of credentials" \
      org.opencontainers.image.licenses="MIT"
COPY --from=build /build/dist/cloakroom /usr/local/bin/cloakroom
# A new volume takes the owner of the directory that it is mounted over. By number: Kubernetes cannot tell of a
# name that it is not root's.
COPY --from=build --chown=65532:65532 /build/data /var/lib/cloakroom
# The root may be read-only: what is temporary is in the volume, too.
ENV HOST=0.0.0.0 DATA_DIR=/var/lib/cloakroom TMPDIR=/var/lib/cloakroom
USER 65532:65532
WORKDIR /var/lib/cloakroom
VOLUME /var/lib/cloakroom
EXPOSE 8000 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 CMD ["cloakroom", "health"]
ENTRYPOINT ["cloakroom"]
CMD ["serve"]
