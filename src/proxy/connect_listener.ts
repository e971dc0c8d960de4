/**
 * The listener that programs connect to: a port on loopback. CONNECT for a host on the allowlist is
 * answered by a TLS listener, for any other host by an untouched tunnel, or refused with `strict`. Other
 * users of this machine can reach the port, hence the password.
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { canonicalHost } from '../platform/net/domain.ts'
import type { Backend } from './backend.ts'
import { offeredProtocols } from './client_hello.ts'
import { isOfDescendant } from './own_descendant.ts'
import type { TlsListeners } from './tls_listeners.ts'

export type ConnectListener = { port: number; close(): Promise<void> }

type Options = {
  port: number
  password: string
  strict: boolean
  backend: Backend
  listeners: TlsListeners
  /** Socket of the handler for requests without CONNECT. */
  httpPath: () => string
}

const MAX_HEAD_BYTES = 65_536
const TIMEOUT_MS = 15_000
const METHOD = 'CONNECT '
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
  const isConnect = (bytes: Buffer) => METHOD.startsWith(bytes.toString('latin1', 0, METHOD.length))
  const start = await readUntil(
    socket,
    Buffer.alloc(0),
    (bytes) => bytes.length >= METHOD.length || !isConnect(bytes),
  )
  if (!isConnect(start)) return join(socket, connect(options.httpPath()), start)
  const bytes = await readUntil(socket, start, (read) => read.includes('\r\n\r\n'))
  const end = bytes.indexOf('\r\n\r\n')
  await tunnel(options, socket, bytes.toString('latin1', 0, end), bytes.subarray(end + 4))
}

async function tunnel(
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
  const target = readAuthority(line)
  if (!target) return refuse(socket, 'HTTP/1.1 400 Bad Request\r\n', 'the target is no host:port')
  const { host, port } = target
  const name = canonicalHost(host)
  if (name !== null && (await backend.covers(name, port))) {
    socket.write('HTTP/1.1 200 Connection Established\r\n\r\n')
    const hello = await readUntil(socket, rest, (bytes) => offeredProtocols(bytes) !== null)
    const offered = offeredProtocols(hello) ?? []
    const onlyHttp2 = offered.includes('h2') && !offered.includes('http/1.1')
    return join(socket, connect(await listeners.secure(name, port, onlyHttp2)), hello)
  }
  if (!strict) return pass(socket, host, port, rest)
  if (name !== null) await backend.refused(name, port).catch(() => {})
  refuse(
    socket,
    'HTTP/1.1 403 Forbidden\r\n',
    `${name ?? 'that host'}:${port} is not on the allowlist (domain_blocked)`,
  )
}

/** By the password, or without one as a program that this process started: Java can tell none. */
function mayEnter(socket: Socket, given: string | undefined, password: string): boolean {
  if (given !== undefined) return isAuthorised(given, password)
  const { remoteAddress, remotePort, localAddress, localPort } = socket
  return isOfDescendant(
    { address: remoteAddress, port: remotePort },
    { address: localAddress, port: localPort },
  )
}

/** Not ours: bytes go both ways, unread. */
async function pass(socket: Socket, host: string, port: number, rest: Buffer): Promise<void> {
  const far = connect({ host, port })
  socket.once('close', () => far.destroy())
  const connected = Promise.withResolvers<boolean>()
  far.once('connect', () => connected.resolve(true))
  far.once('error', () => connected.resolve(false))
  far.once('close', () => connected.resolve(false))
  if (!(await connected.promise)) {
    return refuse(socket, 'HTTP/1.1 502 Bad Gateway\r\n', 'the host cannot be reached')
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
  socket.end(
    `${head}Content-Type: text/plain\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
  )
}

/** Reads on until `isEnough`; the socket is paused afterwards. @throws Error when it ends before */
async function readUntil(
  socket: Socket,
  first: Buffer,
  isEnough: (bytes: Buffer) => boolean,
): Promise<Buffer> {
  let bytes = first
  if (bytes.length > 0 && isEnough(bytes)) return bytes
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
  const fail = () => reject(new Error('the client went away, was too slow, or said too much'))
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

/** RFC 9110, section 9.3.6: the target of CONNECT is host and port; IPv6 addresses in brackets. */
function readAuthority(line: string): { host: string; port: number } | null {
  const match = /^CONNECT (?:\[([0-9a-fA-F:.]+)\]|([^\s:/@[\]]+)):(\d{1,5}) HTTP\/1\.[01]$/.exec(
    line,
  )
  const port = Number(match?.[3])
  const host = match?.[1] ?? match?.[2]
  return host && port >= 1 && port <= 65_535 ? { host, port } : null
}

/** `Basic` credentials (RFC 7617) whose password is the proxy's; the name does not matter. */
export function isAuthorised(header: string | null | undefined, password: string): boolean {
  const [, credentials] = /^\s*basic\s+([A-Za-z0-9+/=]+)\s*$/i.exec(header ?? '') ?? []
  const decoded = Buffer.from(credentials ?? '', 'base64').toString()
  return isSame(decoded.slice(decoded.indexOf(':') + 1), password)
}

/** In constant time, whatever the lengths. */
export function isSame(given: string, expected: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(given), digest(expected))
}
