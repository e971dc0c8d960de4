/**
 * A Node.js program behind the proxy, for its tests: `fetch`, `socket` or `http2`, and a URL. It prints its result as
 * JSON. Built for Node first, because Bun replaces undici by its own.
 */
import { connect as connectHttp2 } from 'node:http2'
import { connect as connectTcp } from 'node:net'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { EnvHttpProxyAgent, fetch, setGlobalDispatcher, WebSocket } from 'undici'

const [, , mode = '', url = '', credential = ''] = process.argv
const modes: Record<string, () => Promise<unknown>> = {
  fetch: get,
  socket: talk,
  http2: getByHttp2,
}

// The effect of NODE_USE_ENV_PROXY=1 in newer versions of Node.
setGlobalDispatcher(new EnvHttpProxyAgent())
console.log(JSON.stringify(await modes[mode]?.()))
process.exit()

/** With the moment at which each piece arrived, in milliseconds. */
async function get() {
  const response = await fetch(url, { headers: { authorization: `Bearer ${credential}` } })
  const pieces: [string, number][] = []
  for await (const chunk of response.body ?? []) {
    pieces.push([Buffer.from(chunk).toString(), performance.now()])
  }
  return { status: response.status, headers: Object.fromEntries(response.headers), pieces }
}

/** Sends `hello` and closes after two messages. */
function talk(): Promise<unknown> {
  const socket = new WebSocket(url, {
    headers: { authorization: `Bearer ${credential}` },
    protocols: ['chat', 'superchat'],
  })
  const messages: string[] = []
  socket.addEventListener('open', () => socket.send('hello'))
  socket.addEventListener('message', ({ data }) => {
    messages.push(String(data))
    if (messages.length === 2) socket.close(1000, 'enough')
  })
  return new Promise((resolve) => {
    socket.addEventListener('error', () => resolve({ messages, failed: true }))
    socket.addEventListener('close', ({ code }) => {
      resolve({ protocol: socket.protocol, messages, code })
    })
  })
}

/** A client that only offers HTTP/2, like gRPC clients. */
async function getByHttp2() {
  const { host, hostname, pathname } = new URL(url)
  const wire = await tunnelTo(host, hostname)
  const client = connectHttp2(`https://${host}`, { createConnection: () => wire })
  const request = client.request({ ':path': pathname, authorization: `Bearer ${credential}` })
  let status: number | undefined
  request.on('response', (headers) => {
    status = headers[':status']
  })
  let body = ''
  for await (const chunk of request) body += chunk
  return { protocol: wire.alpnProtocol, status, body }
}

async function tunnelTo(host: string, servername: string): Promise<TLSSocket> {
  const proxy = new URL(process.env.HTTPS_PROXY ?? '')
  const login = Buffer.from(`${proxy.username}:${proxy.password}`).toString('base64')
  const socket = connectTcp(Number(proxy.port), proxy.hostname)
  socket.write(`CONNECT ${host} HTTP/1.1\r\nProxy-Authorization: Basic ${login}\r\n\r\n`)
  await new Promise((resolve) => socket.once('data', resolve))
  const wire = connectTls({ socket, servername, ALPNProtocols: ['h2'] })
  await new Promise((resolve, reject) => wire.once('secureConnect', resolve).once('error', reject))
  return wire
}
