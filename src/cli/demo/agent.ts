/** The demo's agent: it has a token, and is shown to get answers and no values. */
import { resolveCall } from '../../resolver/contract.ts'
import type { Narrator } from './narrator.ts'
import { credentials, type Stage } from './stage.ts'

export type Agent = { token: string; tokenId: string; registrationId: string }

type Call = { path: string; authorization: string; host?: string }
type Seen = { status: number; answer: Record<string, unknown> }

/** Makes one call as the agent and shows it from all three sides. */
export async function show(
  stage: Stage,
  narrator: Narrator,
  agent: Agent,
  call: Call,
): Promise<Seen> {
  const sent = {
    target_url: `https://${call.host ?? stage.apiAuthority}${call.path}`,
    headers: { Authorization: call.authorization },
  }
  const before = stage.api.received.length
  const { status, answer } = await ask(agent, `${stage.resolver}${resolveCall.path}`, sent)
  const received = stage.api.received[before]
  narrator.show('the agent sent', `GET ${sent.target_url}\nAuthorization: ${call.authorization}`)
  narrator.show(
    'the API received',
    received
      ? `${received.method} ${received.path}\nAuthorization: ${received.authorization}`
      : '(nothing)',
  )
  narrator.show('the agent saw', { http: status, ...pick(answer) })
  return { status, answer }
}

/** One request with the agent's token, to whichever listener. */
export async function ask({ token }: Agent, url: string, body: object): Promise<Seen> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return { status: response.status, answer: (await response.json()) as Seen['answer'] }
}

/** The printed part of a response. */
export function pick({ status_code, body, redacted, error_code }: Record<string, unknown>) {
  return error_code === undefined ? { status_code, body, redacted } : { error_code }
}

export function mentions(seen: Seen): boolean {
  const text = JSON.stringify(seen)
  return Object.values(credentials).some((value) => text.includes(value))
}
