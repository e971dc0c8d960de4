/**
 * The listener that programs connect to: a port on loopback. CONNECT for a host on the allowlist is answered by a TLS
 * listener, for any other host by an unchanged tunnel, or refused with `strict`. Some clients request https without
 * CONNECT, by an absolute target: they get hosts on the allowlist only. Other users of this machine can reach the port,
 * hence the password.
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { toCanonicalHost } from '../core/net/domain.ts'
import type { Backend } from './backend.ts'
import { readOfferedProtocols } from './client_hello.ts'
import { isOfDescendant } from './own_descendant.ts'
import type { TlsListeners } from './tls_listeners.ts'

export type ConnectListener = { port: number; close(): Promise<void> }

type Options = {
  port: number
  password: string
  strict: boolean
  backend: Backend
  listeners: TlsListeners
  /** Socket of the handler for all other requests. */
  httpPath: () => string
}

const MAX_HEAD_BYTES = 65_536
const TIMEOUT_MS = 15_000
/** No request is shorter. */
const START_BYTES = 'GET / HTTP/1.1\r\n\r\n'.length
const FOR_HTTPS = /^(?:CONNECT |[A-Z]+ (?i:https):)/
const NO_PROXY_AUTHORIZATION =
  'HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm="cloakroom"\r\n'

/** @throws Error (EADDRINUSE) when the port is taken */
export async function openConnectListener(options: Options): Promise<ConnectListener> {
  const open = new Set<Socket>()
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    open.add(socket)
    socket.setNoDelay(true)
    socket.on('close', () => open.delete(socket))
    socket.on('error', () => socket.destroy())
    void admit(options, socket).catch(() => socket.destroy())
  })
  const listening = Promise.withResolvers<void>()
  server.once('error', listening.reject)
  server.listen(options.port, '127.0.0.1', () => listening.resolve())
  await listening.promise
  return {
    port: (server.address() as AddressInfo).port,
    close: () => {
      for (const socket of open) socket.destroy()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

async function admit(options: Options, socket: Socket): Promise<void> {
  const start = await readUntil(socket, Buffer.alloc(0), ({ length }) => length >= START_BYTES)
  if (!FOR_HTTPS.test(start.toString('latin1'))) {
    return join(socket, connect(options.httpPath()), start)
  }
  const bytes = await readUntil(socket, start, (read) => read.includes('\r\n\r\n'))
  const end = bytes.indexOf('\r\n\r\n')
  await serve(options, socket, bytes.toString('latin1', 0, end), bytes.subarray(end + 4))
}

async function serve(
  { password, strict, backend, listeners }: Options,
  socket: Socket,
  head: string,
  rest: Buffer,
): Promise<void> {
  const [line = '', ...lines] = head.split('\r\n')
  const given = lines.find((text) => /^proxy-authorization:/i.test(text))
  if (!mayEnter(socket, given?.slice(given.indexOf(':') + 1), password)) {
    return refuse(socket, NO_PROXY_AUTHORIZATION, 'the proxy password is missing or wrong')
  }
  const target = readTarget(line)
  if (!target) return refuse(socket, 'HTTP/1.1 400 Bad Request\r\n', 'the target is not host:port')
  const { host, port, method, ownLine } = target
  const name = toCanonicalHost(host)
  if (name !== null && (await backend.covers(name, port))) {
    if (ownLine !== null) {
      const request = Buffer.from([ownLine, ...lines, '', ''].join('\r\n'), 'latin1')
      const path = await listeners.socketFor(name, port, 'http')
      return join(socket, connect(path), Buffer.concat([request, rest]))
    }
    return intercept(listeners, socket, { name, port }, rest)
  }
  if (!strict && ownLine === null) return pass(socket, host, port, rest)
  if (name !== null) await backend.refused({ host: name, port, method }).catch(() => {})
  refuse(
    socket,
    'HTTP/1.1 403 Forbidden\r\n',
    `${name ?? 'that host'}:${port} is not on the allowlist (domain_blocked)`,
  )
}

async function intercept(
  listeners: TlsListeners,
  socket: Socket,
  { name, port }: { name: string; port: number },
  rest: Buffer,
): Promise<void> {
  socket.write('HTTP/1.1 200 Connection Established\r\n\r\n')
  const hello = await readUntil(socket, rest, (bytes) => readOfferedProtocols(bytes) !== null)
  const offered = readOfferedProtocols(hello) ?? []
  const protocol = offered.includes('h2') && !offered.includes('http/1.1') ? 'h2' : 'https'
  join(socket, connect(await listeners.socketFor(name, port, protocol)), hello)
}

/** Whether a client has the password, or is a program that this process started: Java cannot send one. */
function mayEnter(socket: Socket, given: string | undefined, password: string): boolean {
  if (given !== undefined) return isAuthorised(given, password)
  const { remoteAddress, remotePort, localAddress, localPort } = socket
  return isOfDescendant(
    { address: remoteAddress, port: remotePort },
    { address: localAddress, port: localPort },
  )
}

/** Passes bytes for another host both ways, unread. */
async function pass(socket: Socket, host: string, port: number, rest: Buffer): Promise<void> {
  const far = connect({ host, port })
  socket.once('close', () => far.destroy())
  const connected = Promise.withResolvers<boolean>()
  far.once('connect', () => connected.resolve(true))
  far.once('error', () => connected.resolve(false))
  far.once('close', () => connected.resolve(false))
  if (!(await connected.promise)) {
    return refuse(socket, 'HTTP/1.1 502 Bad Gateway\r\n', 'the host is unreachable')
  }
  socket.write('HTTP/1.1 200 Connection Established\r\n\r\n')
  join(socket, far, rest)
}

function join(near: Socket, far: Socket, first: Uint8Array): void {
  far.setNoDelay(true)
  far.on('error', () => near.destroy())
  near.on('close', () => far.destroy())
  far.on('close', () => near.destroySoon())
  if (first.length > 0) far.write(first)
  near.pipe(far)
  far.pipe(near)
}

function refuse(socket: Socket, head: string, reason: string): void {
  const body = `${reason}\n`
  // Discard further bytes, or the client would see a failed upload instead of an answer.
  socket.resume()
  socket.end(
    `${head}Content-Type: text/plain\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
  )
}

/** Reads on until `isEnough`; the socket is paused afterwards. @throws Error if it ends first */
async function readUntil(
  socket: Socket,
  first: Buffer,
  isEnough: (bytes: Buffer) => boolean,
): Promise<Buffer> {
  let bytes = first
  if (bytes.length > 0 && isEnough(bytes)) return bytes
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
  const fail = () => reject(new Error('the client disconnected, was too slow, or sent too much'))
  const take = (chunk: Buffer) => {
    bytes = Buffer.concat([bytes, chunk])
    if (isEnough(bytes)) resolve(bytes)
    else if (bytes.length > MAX_HEAD_BYTES) fail()
  }
  if (bytes.length > MAX_HEAD_BYTES) fail()
  const timer = setTimeout(fail, TIMEOUT_MS)
  socket.on('data', take).once('end', fail).once('close', fail)
  socket.resume()
  try {
    return await promise
  } finally {
    clearTimeout(timer)
    socket.pause()
    socket.off('data', take).off('end', fail).off('close', fail)
  }
}

const HOST = String.raw`(?:\[(?<address>[\dA-Fa-f:.]+)\]|(?<name>[^\s:/?#@[\]]+))`
const TARGETS = [
  // RFC 9110, section 9.3.6: the target of CONNECT is host and port; IPv6 addresses in brackets.
  String.raw`CONNECT ${HOST}:(?<port>\d{1,5})`,
  // RFC 9112, section 3.2.2.
  String.raw`(?!CONNECT)(?<method>[A-Z]{1,32}) (?i:https)://${HOST}(?::(?<port>\d{1,5}))?(?<path>[/?]\S*)?`,
].map((target) => new RegExp(`^${target} (?<version>HTTP/1\\.[01])$`))

/** `ownLine` is the request line for the host itself, of a request that is not a CONNECT. */
function readTarget(line: string) {
  const [connecting, absolute] = TARGETS.map((target) => target.exec(line)?.groups)
  const found = connecting ?? absolute
  const host = found?.address ?? found?.name
  const port = Number(found?.port ?? 443)
  if (!found || !host || port < 1 || port > 65_535) return null
  const { method = 'CONNECT', path = '', version } = found
  const ownLine = connecting ? null : `${method} ${path.replace(/^(?!\/)/, '/')} ${version}`
  return { host, port, method, ownLine }
}

/** `Basic` credentials (RFC 7617) with the proxy's password and any user name. */
export function isAuthorised(header: string | null | undefined, password: string): boolean {
  const [, credentials] = /^\s*basic\s+([A-Za-z0-9+/=]+)\s*$/i.exec(header ?? '') ?? []
  const decoded = Buffer.from(credentials ?? '', 'base64').toString()
  return isSame(decoded.slice(decoded.indexOf(':') + 1), password)
}

/** In constant time for any lengths. */
export function isSame(given: string, expected: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(given), digest(expected))
}
