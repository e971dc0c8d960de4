/** The page's one way to the worker that holds the keys. */
import { scriptUrl } from '../../../core/script_url.browser.ts'
import { createShared } from '../shared.ts'
import type { CommandName, FromWorker, Input, Returned, ToWorker } from './messages.ts'
import { addNotice } from './notices.ts'
import type { AccountState, Failure, Progress } from './reports.ts'

/** An error of a command, with its code. */
export class AskError extends Error {
  readonly code: string
  readonly fields: Failure['fields']
  readonly requestId: string | null

  constructor({ code, message, fields, requestId }: Failure) {
    super(message)
    this.name = 'AskError'
    this.code = code
    this.fields = fields
    this.requestId = requestId
  }
}

type Pending = {
  resolve(output: unknown): void
  reject(error: Error): void
  progress: ((progress: Progress) => void) | undefined
}

const pending = new Map<number, Pending>()
let lastId = 0
/** The account's state. Null until the worker reports it. */
export const accountState = createShared<AccountState | null>(null)
let worker: Worker | undefined

/** @throws AskError */
export function ask<N extends CommandName>(
  name: N,
  input: Input<N>,
  progress?: (progress: Progress) => void,
): Promise<Returned<N>> {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>()
  lastId += 1
  pending.set(lastId, { resolve, reject, progress })
  worker ??= start()
  worker.postMessage({ id: lastId, name, input } satisfies ToWorker)
  return promise as Promise<Returned<N>>
}

function start(): Worker {
  const url = document.querySelector<HTMLMetaElement>('meta[name=keys-worker]')?.content ?? ''
  const started = new Worker(scriptUrl(url), { type: 'module', name: 'keys' })
  started.onmessage = ({ data }: MessageEvent<FromWorker>) => receive(data)
  started.onerror = () => {
    const failure = { code: 'worker_failed', message: '', fields: [], requestId: null }
    for (const { reject } of pending.values()) reject(new AskError(failure))
    pending.clear()
  }
  return started
}

function receive(message: FromWorker): void {
  if ('account' in message) {
    if (message.account.kind !== 'open') addNotice(null)
    accountState.set(message.account)
    return
  }
  if ('notice' in message) {
    addNotice(message.notice)
    return
  }
  const asked = pending.get(message.id)
  if ('progress' in message) {
    asked?.progress?.(message.progress)
    return
  }
  pending.delete(message.id)
  if ('failure' in message) asked?.reject(new AskError(message.failure))
  else asked?.resolve(message.output)
}
