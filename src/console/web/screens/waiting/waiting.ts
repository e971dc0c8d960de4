/** The data of this screen, as the worker returns it. */
import type { Returned } from '../../keys/messages.ts'

export type Waiting = Returned<'approvals.waiting'>
export type Request = Waiting['requests'][number]
export type ReleasedUse = Waiting['released'][number]
export type Proposal = Waiting['proposals'][number]

/** Commands whose answers a decision changes. */
export const DECIDED = ['approvals.waiting', 'approvals.status'] as const

export const address = ({ origin, path }: Request) => `${origin}${path}`
