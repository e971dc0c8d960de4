/**
 * Fills a caller's text messages with placeholders of secrets whose policies list `websocket`. Each is decided, and
 * recorded before it is sent, like a call to the address of the WebSocket.
 */
import { Fault } from '../../core/fault.ts'
import type { NamedBytes } from '../../leak_guard/index.ts'
import type { AnswerGuard } from '../guard.ts'
import { Hidden } from '../hidden.ts'
import { checkBytes, checkCounts } from '../injection/budget.ts'
import {
  fillMessage,
  findInMessage,
  holdsPrefix,
  NOTHING_PLACEABLE,
} from '../injection/locations.ts'
import type { Placeholder } from '../injection/placeholders.ts'
import { decideWhenPrepared } from '../injection/prepare.ts'
import type { OutboundRequest } from '../outbound_request.ts'
import {
  type CallPermission,
  domainBlocked,
  namesOf,
  openSecrets,
  selectSecrets,
  settingsAmong,
} from '../policy/permission.ts'
import { type AskedRequest, checkPolicies } from '../policy/policy.ts'
import { CallRecord, type Conclusion } from '../record.ts'
import type { StepPause } from '../steps.ts'

/** The message to send, and the secret values in it. */
type FilledMessage = Hidden<{ payload: Uint8Array; used: readonly NamedBytes[] }>

/** A message with its values; `conclude` records whether it was sent. */
export type FilledText = { payload: Uint8Array; conclude(isSent: boolean): void }

/** The caller, with an audit record for each message. */
type Caller = {
  withRecord(record: CallRecord): {
    decide<T extends object>(
      attempt: (permission: CallPermission) => T | Fault | Promise<T | Fault>,
    ): Promise<T>
    conclude(conclusion: Conclusion): void
    faultOf(error: unknown): Fault
  }
}

/** Messages with credentials on one WebSocket: a client logs in once and rarely again. */
const MAX_FILLED_MESSAGES = 64
/** Maximum bytes of a message with values: it is parsed and serialised without pauses. */
const MAX_FILLED_BYTES = 131_072
/** The status of an accepted handshake. */
const SWITCHING_PROTOCOLS = 101

export class MessageFiller {
  readonly #caller: Caller
  readonly #record: CallRecord
  readonly #request: OutboundRequest
  readonly #pause: StepPause
  /** All values that messages used, including replaced ones. */
  readonly #used: NamedBytes[] = []
  #guard: AnswerGuard
  #wasRedacted = false
  #filled = 0

  /** `record` and `request` are those of the handshake. */
  constructor(caller: Caller, record: CallRecord, request: OutboundRequest, pause: StepPause) {
    this.#caller = caller
    this.#record = record
    this.#request = request
    this.#pause = pause
    this.#guard = request.guard(pause)
  }

  /** Whether anything was replaced so far. */
  get redacted(): boolean {
    return this.#wasRedacted || this.#guard.redacted
  }

  /** Returns a received message without the values. */
  redact(message: Uint8Array): Uint8Array | Promise<Uint8Array> {
    return this.#guard.redactBody(message)
  }

  /**
   * Fills a text message; returns `null` for one that is sent unchanged.
   *
   * @throws Fault of the step that refuses, `validation_error` for too many
   */
  fill(message: Uint8Array): Promise<FilledText> | null {
    const { isPlaceable } = this.#request
    if (isPlaceable === NOTHING_PLACEABLE || !holdsPrefix(message)) return null
    const text = Buffer.from(message).toString()
    const placeholders = findInMessage(text, isPlaceable)
    const { asked } = this.#record
    if (placeholders.length === 0 || asked === null) return null
    if (message.length > MAX_FILLED_BYTES) throw buildTooLongFault()
    return this.#decide({ text, placeholders, asked })
  }

  async #decide(job: Omit<Job, 'record'>): Promise<FilledText> {
    this.#filled += 1
    if (this.#filled > MAX_FILLED_MESSAGES) throw buildTooManyFault()
    const { projectId, environment } = this.#record
    const record = new CallRecord({ id: Bun.randomUUIDv7(), projectId, environment })
    const principal = this.#caller.withRecord(record)
    const filled = await principal
      .decide((permission) =>
        decideWhenPrepared(() => fillPlaceholders(permission, { ...job, record })),
      )
      .catch((error) => {
        throw principal.faultOf(error)
      })
    const { payload, used } = filled.reveal()
    for (const value of used) {
      if (await this.#request.knows(value, this.#pause)) continue
      const fault = buildChangedFault(value)
      principal.conclude(record.failure(fault))
      throw fault
    }
    this.#guardLater(used)
    return {
      payload,
      conclude: (isSent) =>
        principal.conclude(
          isSent ? record.outcome(SWITCHING_PROTOCOLS, false) : record.abandonment(),
        ),
    }
  }

  #guardLater(used: readonly NamedBytes[]): void {
    this.#used.push(...used)
    this.#wasRedacted = this.redacted
    this.#guard = this.#request.guard(this.#pause, this.#used)
  }
}

type Job = {
  text: string
  placeholders: readonly Placeholder[]
  asked: AskedRequest
  record: CallRecord
}

/** Steps 3 to 6 of protocol 6, for a message. @throws Unread, and Fault of the step that refuses */
function fillPlaceholders(
  permission: CallPermission,
  { text, placeholders, asked, record }: Job,
): FilledMessage {
  record.sees(asked)
  if (!permission.allows(asked.target)) throw domainBlocked(asked.target)
  const scope = permission.scope()
  record.asks(scope, placeholders)
  checkCounts(placeholders)
  const { holder } = permission
  const { environment } = scope
  const names = namesOf(placeholders)
  const used = selectSecrets(names, permission.secrets(names), { holder, environment })
  record.finds(used.values())
  const values = openSecrets(used)
  checkPolicies(used, placeholders, asked)
  checkBytes(placeholders, values)
  const payload = new TextEncoder().encode(fillMessage(text, values))
  const settings = settingsAmong(used)
  const secrets = [...values].filter(([name]) => !settings.has(name))
  const bytes = secrets.map(([name, value]) => ({ name, bytes: value.reveal() }))
  return new Hidden({ payload, used: bytes })
}

/** Refuses a changed secret: answers are searched only for the values at the handshake. */
function buildChangedFault({ name }: NamedBytes): Fault {
  return new Fault('conflict', {
    message: `The secret ${name} changed after the WebSocket was opened. Open another one.`,
  })
}

function buildTooManyFault(): Fault {
  return new Fault('validation_error', {
    message: `A WebSocket can send at most ${MAX_FILLED_MESSAGES} messages with secrets. Open another one.`,
  })
}

function buildTooLongFault(): Fault {
  return new Fault('validation_error', {
    message: `A message with secrets can have at most ${MAX_FILLED_BYTES} bytes.`,
  })
}
