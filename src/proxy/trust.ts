/**
 * Makes programs trust the proxy: variables of their environment name a bundle of the system's authorities and the
 * proxy's. The machine's trust store is never changed.
 */
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { rootCertificates } from 'node:tls'
import { swapFile } from './authority.ts'
import { trustStoreOf } from './java_trust_store.ts'

type Env = Record<string, string | undefined>

const SYSTEM_BUNDLES = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/ca-bundle.pem',
  '/etc/ssl/cert.pem',
]
const NEVER_PROXIED = ['localhost', '127.0.0.1', '::1']

/** Variables for the bundle, and the programs that read them. */
export const bundleVariables = {
  SSL_CERT_FILE: 'OpenSSL, Go, Ruby, Rust, .NET and most others',
  CURL_CA_BUNDLE: 'curl',
  REQUESTS_CA_BUNDLE: 'Python requests, and pip',
  HTTPLIB2_CA_CERTS: 'Python httplib2, used by older Google libraries',
  AWS_CA_BUNDLE: 'AWS command line and boto3',
  CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE: 'gcloud',
  GRPC_DEFAULT_SSL_ROOTS_FILE_PATH: 'gRPC',
  GIT_SSL_CAINFO: 'git',
  CARGO_HTTP_CAINFO: 'cargo',
  npm_config_cafile: 'npm and pnpm, which may otherwise use another bundle',
  NODE_EXTRA_CA_CERTS: 'Node.js, Bun, and programs built on them',
  DENO_CERT: 'Deno',
  PERL_LWP_SSL_CA_FILE: 'Perl LWP',
} as const

const AUTHORITY = /-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]+)-----END CERTIFICATE-----/g

/**
 * Writes the bundle and returns its path. Authorities that the user already named in a variable stay
 * in it: a company's own, for example.
 */
export function writeBundle(directory: string, certificate: string, env: Env): string {
  const path = join(directory, 'bundle.pem')
  const named = [env.SSL_CERT_FILE, ...SYSTEM_BUNDLES].find(
    (candidate) => candidate && candidate !== path && existsSync(candidate),
  )
  const extra = env.NODE_EXTRA_CA_CERTS
  const parts = [
    named ? readFileSync(named, 'utf8') : rootCertificates.join('\n'),
    extra && extra !== path && existsSync(extra) ? readFileSync(extra, 'utf8') : '',
    certificate,
  ]
  swapFile(path, `${parts.map((part) => part.trim()).join('\n')}\n`, 0o644)
  return path
}

/** Variables that make a program trust the bundle. */
export function trustEnvironment(bundle: string): Record<string, string> {
  return Object.fromEntries(Object.keys(bundleVariables).map((name) => [name, bundle]))
}

/** Variables that make a program use the proxy. With `all`, also for http. */
export function proxyEnvironment(url: string, env: Env, all: boolean): Record<string, string> {
  const kept = (env.NO_PROXY ?? env.no_proxy ?? '').split(',').map((name) => name.trim())
  // Hosts that bypass another proxy may be the ones that need credentials, so only local names are kept.
  const local = kept.filter((name) => /^(localhost|127\.|::1|\[::1\])/.test(name))
  const noProxy = [...new Set([...NEVER_PROXIED, ...local])].join(',')
  return {
    HTTPS_PROXY: url,
    https_proxy: url,
    ...(all ? { HTTP_PROXY: url, http_proxy: url } : {}),
    NO_PROXY: noProxy,
    no_proxy: noProxy,
    // gRPC prefers its own variables.
    grpc_proxy: url,
    no_grpc_proxy: noProxy,
    NODE_USE_ENV_PROXY: '1',
    ...cloudEnvironment(url),
  }
}

/** gcloud has its own variables. */
function cloudEnvironment(url: string): Record<string, string> {
  const { hostname, port, username, password } = new URL(url)
  return {
    CLOUDSDK_PROXY_TYPE: 'http',
    CLOUDSDK_PROXY_ADDRESS: hostname,
    CLOUDSDK_PROXY_PORT: port,
    CLOUDSDK_PROXY_USERNAME: username,
    CLOUDSDK_PROXY_PASSWORD: password,
  }
}

/**
 * Returns Java's settings: its trust store, and the proxy's address. Java accepts no proxy password from outside of a
 * program, so a program that this process started needs none (`own_descendant.ts`).
 */
export function javaEnvironment(
  url: string,
  trustStore: string,
  env: Env,
  all: boolean,
): Record<string, string> {
  const { hostname, port } = new URL(url)
  const proxyOf = (scheme: string) => [
    `-D${scheme}.proxyHost=${hostname}`,
    `-D${scheme}.proxyPort=${port}`,
  ]
  const options = [
    ...(env.JAVA_TOOL_OPTIONS ? [env.JAVA_TOOL_OPTIONS] : []),
    `"-Djavax.net.ssl.trustStore=${trustStore}"`,
    '-Djavax.net.ssl.trustStoreType=JKS',
    ...proxyOf('https'),
    ...(all ? proxyOf('http') : []),
  ]
  return { JAVA_TOOL_OPTIONS: options.join(' ') }
}

/** PHP reads authorities from its settings only: a folder with the bundle follows the folders that it reads. */
export function phpEnvironment(bundle: string, env: Env): Record<string, string> {
  const directory = join(dirname(bundle), 'php')
  mkdirSync(directory, { recursive: true })
  const settings = `curl.cainfo="${bundle}"\nopenssl.cafile="${bundle}"\n`
  swapFile(join(directory, 'cloakroom.ini'), settings, 0o644)
  return { PHP_INI_SCAN_DIR: `${env.PHP_INI_SCAN_DIR ?? ''}:${directory}` }
}

/** The bundle as Java reads it, beside it; returns its path. */
export function writeTrustStore(bundle: string): string {
  const path = join(dirname(bundle), 'bundle.jks')
  const certificates = [...readFileSync(bundle, 'utf8').matchAll(AUTHORITY)]
  const store = trustStoreOf(certificates.map(([, base64 = '']) => Buffer.from(base64, 'base64')))
  swapFile(path, store, 0o644)
  return path
}
