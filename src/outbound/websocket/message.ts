/**
 * Text messages of a caller in which placeholders count: those of secrets whose policies list `websocket`. Each is
 * decided, and put on record before it goes on, as a call to the address of the WebSocket.
 */
import { Fault } from '../../core/fault.ts'
import { MAX_MESSAGE_BYTES } from '../../http/websocket.ts'
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
import { decidedBy } from '../injection/prepare.ts'
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

/** What goes out, and the values in it that are secrets. */
type FilledMessage = Hidden<{ payload: Uint8Array; used: readonly NamedBytes[] }>

/** Who calls, with something of its own on record for each message. */
type Caller = {
  withRecord(record: CallRecord): {
    decide<T extends object>(
      attempt: (permission: CallPermission) => T | Fault | Promise<T | Fault>,
    ): Promise<T>
    conclude(conclusion: Conclusion): void
    faultOf(error: unknown): Fault
  }
}

/** Messages with credentials on one WebSocket: a client logs in once, and now and then anew. */
const MAX_FILLED_MESSAGES = 64
/** What a handshake is answered with. */
const SWITCHING_PROTOCOLS = 101

export class MessageFiller {
  readonly #caller: Caller
  readonly #record: CallRecord
  readonly #request: OutboundRequest
  readonly #pause: StepPause
  /** Each once. */
  readonly #used = new Map<string, NamedBytes>()
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

  /** Of what comes back. It knows every value that went out. */
  get guard(): AnswerGuard {
    return this.#guard
  }

  /** Whether anything was replaced so far. */
  get redacted(): boolean {
    return this.#wasRedacted || this.#guard.redacted
  }

  /**
   * What goes out for a text message; `null` for one that goes on as it is.
   *
   * @throws Fault of the step that refuses, `validation_error` for too many
   */
  fill(message: Uint8Array): Promise<Uint8Array> | null {
    const { isPlaceable } = this.#request
    if (isPlaceable === NOTHING_PLACEABLE || !holdsPrefix(message)) return null
    const text = Buffer.from(message).toString()
    const placeholders = findInMessage(text, isPlaceable)
    const { asked } = this.#record
    return placeholders.length > 0 && asked ? this.#decide({ text, placeholders, asked }) : null
  }

  async #decide(job: Omit<Job, 'record'>): Promise<Uint8Array> {
    this.#filled += 1
    if (this.#filled > MAX_FILLED_MESSAGES) throw tooMany()
    const { projectId, environment } = this.#record
    const record = new CallRecord({ id: Bun.randomUUIDv7(), projectId, environment })
    const principal = this.#caller.withRecord(record)
    const filled = await principal
      .decide((permission) => decidedBy(() => filledBy(permission, { ...job, record })))
      .catch((error) => {
        throw principal.faultOf(error)
      })
    principal.conclude(record.outcome(SWITCHING_PROTOCOLS, false))
    const { payload, used } = filled.reveal()
    for (const value of used) this.#used.set(value.name, value)
    this.#wasRedacted = this.redacted
    this.#guard = this.#request.guard(this.#pause, [...this.#used.values()])
    return payload
  }
}

type Job = {
  text: string
  placeholders: readonly Placeholder[]
  asked: AskedRequest
  record: CallRecord
}

/** Steps 3 to 6 of protocol 6, for a message. @throws Unread, and Fault of the step that refuses */
function filledBy(
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
  if (payload.length > MAX_MESSAGE_BYTES) throw tooLong()
  const settings = settingsAmong(used)
  const secrets = [...values].filter(([name]) => !settings.has(name))
  const bytes = secrets.map(([name, value]) => ({ name, bytes: value.reveal() }))
  return new Hidden({ payload, used: bytes })
}

function tooMany(): Fault {
  return new Fault('validation_error', {
    message: `A WebSocket takes at most ${MAX_FILLED_MESSAGES} messages with secrets. Open another one.`,
  })
}

function tooLong(): Fault {
  return new Fault('validation_error', {
    message: `A message may have at most ${MAX_MESSAGE_BYTES} bytes with its secrets.`,
  })
}
