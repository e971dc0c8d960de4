// tier: all
/**
 * The runtime would run 256 outbound calls at a time and let all others wait. The server raises that limit, however
 * it is started: calls that an upstream holds open delay no other workspace.
 */
import { expect, test } from 'bun:test'
import { connect } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { marked } from '../support/canary.ts'
import { startServer } from '../support/server_process.ts'
import { startProgram } from './executable.ts'
import { type AgentToken, type Customer, createAgent, enrol } from './independent_client.ts'
import { allow, openScene, resolveAs, type Scene } from './scene.ts'

const CALLS = 300
const ANSWER = 'HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nslow'

type Running = { controlPlane: string; resolver: string; stop(): Promise<unknown> }

const starts: Record<string, (env: Record<string, string>) => Promise<Running>> = {
  'the executable': async (env) => {
    const program = await startProgram({ env })
    const stop = () => {
      program.signal('SIGTERM')
      return program.ended
    }
    return { ...program, stop }
  },
  'the source': async (env) => {
    const server = await startServer(env)
    const stop = () => {
      server.kill('SIGTERM')
      return server.exited
    }
    return { ...server, stop }
  },
}

for (const [name, start] of Object.entries(starts)) {
  test(`${name}: ${CALLS} calls that are held open concurrently delay no other workspace`, async () => {
    const scene = await openScene()
    const server = await start(scene.env)
    const [slow, other] = [await staff(scene, server), await staff(scene, server)]
    const held: TLSSocket[] = []
    const { promise: full, resolve: fill } = Promise.withResolvers<void>()
    scene.upstream.on('/held', (_, wire) => {
      if (held.push(wire) === CALLS) fill()
    })
    const answers = Array.from({ length: CALLS }, () =>
      statusOf(server.resolver, slow, scene.url('/held')),
    )
    await full
    const answer = await resolveAs(other, server.resolver, scene.url('/quick'))
    expect(answer).toMatchObject({ status_code: 200 })
    for (const wire of held) wire.write(ANSWER)
    expect(new Set(await Promise.all(answers))).toEqual(new Set([200]))
    await server.stop()
    await scene.close()
  }, 120_000)
}

async function staff(scene: Scene, { controlPlane }: Running): Promise<AgentToken> {
  const customer: Customer = await enrol(controlPlane)
  await customer.upload({ API_KEY: marked('sk_live_of_many') })
  await allow(scene, customer)
  return createAgent(customer)
}

/** Uses its own socket, because `fetch` in this process has the runtime's limit. */
function statusOf(resolver: string, { token }: AgentToken, target_url: string): Promise<number> {
  const { hostname, port, host } = new URL(resolver)
  const body = JSON.stringify({ target_url })
  const head = [
    'POST /v1/resolve HTTP/1.1',
    `Host: ${host}`,
    `Authorization: Bearer ${token}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
  ]
  const socket = connect({ host: hostname, port: Number(port) })
  socket.write(`${head.join('\r\n')}\r\n\r\n${body}`)
  return new Promise((resolve, reject) => {
    socket.once('error', reject)
    socket.once('data', (data: Buffer) => {
      socket.destroy()
      resolve(Number(data.toString('latin1').split(' ')[1]))
    })
  })
}
