/**
 * A gRPC client by its library for Node.js: behind the proxy by `https_proxy` and the bundle of
 * GRPC_DEFAULT_SSL_ROOTS_FILE_PATH. Each line of its input is a call, and each line of its output is a call's result.
 */
import { createInterface } from 'node:readline'
import { Client, credentials, Metadata, type ServiceError } from '@grpc/grpc-js'

export type AskedCall = {
  host: string
  path: string
  /** Several values of one name are sent as such; in names with `-bin` each character is a byte. */
  metadata?: Record<string, string | string[]>
  messages: string[]
  /** Each message waits for the answer to the previous one. */
  lockstep?: boolean
  cancelAt?: 'headers'
}

const clients = new Map<string, Client>()

for await (const line of createInterface(process.stdin)) {
  console.log(JSON.stringify(await make(JSON.parse(line))))
}

function make(asked: AskedCall): Promise<unknown> {
  const client = clients.get(asked.host) ?? new Client(asked.host, credentials.createSsl())
  clients.set(asked.host, client)
  const metadata = new Metadata()
  for (const [name, values] of Object.entries(asked.metadata ?? {})) {
    for (const value of [values].flat()) {
      metadata.add(name, name.endsWith('-bin') ? Buffer.from(value, 'latin1') : value)
    }
  }
  const call = client.makeBidiStreamRequest<string, string>(
    asked.path,
    (text) => Buffer.from(text),
    (bytes) => bytes.toString(),
    metadata,
  )
  const got = { headers: {}, messages: [] as string[] }
  const waiting = [...asked.messages]
  const sendNext = () => {
    const next = waiting.shift()
    if (next === undefined) call.end()
    else call.write(next)
    return next !== undefined
  }
  if (asked.lockstep) sendNext()
  else while (sendNext());
  call.on('metadata', (headers: Metadata) => {
    got.headers = textsIn(headers)
    if (asked.cancelAt === 'headers') call.cancel()
  })
  call.on('data', (message: string) => {
    got.messages.push(message)
    if (asked.lockstep) sendNext()
  })
  // Arrives with a status, which has the same content.
  call.on('error', (_: ServiceError) => {})
  return new Promise((resolve) => {
    call.on('status', ({ code, details, metadata: trailers }) => {
      resolve({ ...got, code, details, trailers: textsIn(trailers) })
    })
  })
}

/** Like in the request; several values have commas between them. */
function textsIn(metadata: Metadata): Record<string, string> {
  return Object.fromEntries(
    Object.keys(metadata.getMap()).map((name) => [
      name,
      metadata
        .get(name)
        .map((value) => value.toString('latin1' as never))
        .join(','),
    ]),
  )
}
