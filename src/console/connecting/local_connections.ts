/** The local console's connections: running flows, and roots until the page has stored them. */
import { randomBytes } from 'node:crypto'
import { chooseClient, chooseProvider, chooseScope } from '../../client/connect/choice.ts'
import { type ConnectDraft, type ConnectFlow, startFlow } from '../../client/connect/flow.ts'
import { redraft } from '../../client/connect/known_root.ts'
import { ConnectFault, type ProviderFetch } from '../../client/connect/provider_fetch.ts'
import type { InputOf } from '../../http/endpoint.ts'
import type { ConnectionChoice, startConnection } from './contract.ts'

type Order = InputOf<typeof startConnection, 'body'>

/** Milliseconds to wait for the browser. A root, or why there is no root, is kept for twice the time, for the page to fetch it. */
const LIMIT_MS = 600_000
const ID_BYTES = 32
/** More flows than a user runs at the same time. Each listens on a port. */
const MAX_FLOWS = 8

type Kept = {
  flow: ConnectFlow
  redirectUri: string | undefined
  root: string | null
  fault: unknown
  timer: Timer
}

export class LocalConnections {
  readonly #send: ProviderFetch
  readonly #limitMs: number
  readonly #keepMs: number
  readonly #kept = new Map<string, Kept>()
  #starting = 0

  constructor(send: ProviderFetch, limitMs = LIMIT_MS, keepMs = 2 * limitMs) {
    this.#send = send
    this.#limitMs = limitMs
    this.#keepMs = keepMs
  }

  /** Starts a flow. It replaces a flow that waits at the same redirect address. @throws ConnectFault */
  async start({ key, flow: order }: Order) {
    if (this.#kept.size + this.#starting >= MAX_FLOWS) throw buildTooManyFault()
    this.#starting += 1
    try {
      const { draft, domains } =
        'choice' in order
          ? await draftOf(key, order.choice, this.#send)
          : { draft: await redraft(key, order.stored.root, order.stored, this.#send), domains: [] }
      const { redirectUri, device } = 'choice' in order ? order.choice : order.stored
      await this.#free(redirectUri)
      const options = { redirectUri, device, limitMs: this.#limitMs }
      const flow = await startFlow(draft, options, this.#send)
      const expiresAt = new Date(Date.now() + this.#limitMs).toISOString()
      const { url, device: shown } = flow
      return { id: this.#keep(flow, redirectUri), url, device: shown, domains, expiresAt }
    } finally {
      this.#starting -= 1
    }
  }

  /** The root when the flow has it. Null for an unknown ID. @throws ConnectFault for a failed flow */
  read(id: string): { root: string | null } | null {
    const kept = this.#kept.get(id)
    if (kept === undefined) return null
    if (kept.fault !== null) {
      this.end(id)
      throw kept.fault
    }
    return { root: kept.root }
  }

  /** Cancels the flow, or forgets its root. */
  end(id: string): void {
    const kept = this.#kept.get(id)
    if (kept === undefined) return
    this.#kept.delete(id)
    clearTimeout(kept.timer)
    kept.flow.cancel()
  }

  close(): void {
    for (const id of this.#kept.keys()) this.end(id)
  }

  /** Ends the flow of a reloaded page, which would keep the port. */
  async #free(redirectUri: string | undefined): Promise<void> {
    const waiting = [...this.#kept].filter(
      ([, kept]) => kept.root === null && kept.redirectUri === redirectUri,
    )
    for (const [id, { flow }] of redirectUri === undefined ? [] : waiting) {
      this.end(id)
      await flow.finished.catch(() => {})
    }
  }

  #keep(flow: ConnectFlow, redirectUri: string | undefined): string {
    const id = randomBytes(ID_BYTES).toString('base64url')
    const timer = setTimeout(() => this.end(id), this.#keepMs)
    const kept: Kept = { flow, redirectUri, root: null, fault: null, timer }
    this.#kept.set(id, kept)
    flow.finished.then(
      (root) => {
        kept.root = root
      },
      (error) => {
        kept.fault = error
      },
    )
    return id
  }
}

function buildTooManyFault(): ConnectFault {
  const message = `${MAX_FLOWS} connections are in progress.`
  return new ConnectFault('too_many', message, 'Finish or cancel one first.')
}

/** @throws ConnectFault */
async function draftOf(
  name: string,
  choice: ConnectionChoice,
  send: ProviderFetch,
): Promise<{ draft: ConnectDraft; domains: string[] }> {
  const chosen = await chooseProvider(choice, send)
  const domains = [...(choice.domains ?? chosen.domains)]
  if (domains.length === 0) {
    throw new ConnectFault('hosts_missing', 'The hosts of the API are missing.')
  }
  const scope = chooseScope(choice, chosen)
  const { endpoints, preset } = chosen
  const draft = {
    name,
    endpoints,
    scope,
    authorizeParameters: preset?.authorizeParameters,
    clientFor: (redirectUri: string) => chooseClient(choice, chosen, { redirectUri, scope }, send),
  }
  return { draft, domains }
}
