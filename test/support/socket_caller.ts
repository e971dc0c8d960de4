/** WebSockets through forward mode, from the view of the caller. */
import type { Agent, Stage } from './agent.ts'
import { until } from './until.ts'

export type Caller = {
  socket: WebSocket
  /** `open`, or the way it failed. */
  opened: Promise<string>
  messages: (string | Buffer)[]
  next(): Promise<string | Buffer>
  closed: Promise<{ code: number; reason: string }>
}

export type CallerOptions = {
  headers?: Record<string, string>
  protocols?: string[]
  authority?: string
  /** The token in its own header; `null` if it is sent another way. */
  token?: string | null
}

export function socketThrough(
  stage: Pick<Stage, 'app' | 'authorityOf'>,
  agent: Pick<Agent, 'token'>,
  path: string,
  options: CallerOptions = {},
): Caller {
  const { headers = {}, protocols = [], authority = stage.authorityOf() } = options
  const { token = agent.token } = options
  const url = `${stage.app.resolver.replace('http', 'ws')}/v1/forward/${authority}${path}`
  const all = { ...(token === null ? {} : { 'x-service-token': token }), ...headers }
  const socket = new WebSocket(url, { headers: all, protocols } as never)
  socket.binaryType = 'nodebuffer' as never
  const messages: (string | Buffer)[] = []
  const opened = Promise.withResolvers<string>()
  const closed = Promise.withResolvers<{ code: number; reason: string }>()
  socket.onopen = () => opened.resolve('open')
  socket.onerror = (event) => opened.resolve('message' in event ? String(event.message) : 'error')
  socket.onclose = ({ code, reason }) => closed.resolve({ code, reason })
  socket.onmessage = ({ data }) => void messages.push(data)
  let looked = 0
  const next = async () => {
    await until(() => messages[looked] !== undefined)
    looked += 1
    return messages[looked - 1] ?? ''
  }
  return { socket, opened: opened.promise, messages, next, closed: closed.promise }
}
