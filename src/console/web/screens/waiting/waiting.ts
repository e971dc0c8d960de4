/** The data of this screen, as the worker returns it. */
import type { Returned } from '../../keys/messages.ts'

export type Waiting = Returned<'approvals.waiting'>
export type Request = Waiting['requests'][number]
export type ReleasedUse = Waiting['released'][number]
export type ProposedChange = Waiting['proposals'][number]

/** Commands whose answers a decision changes. */
export const DECIDED = ['approvals.waiting', 'approvals.status'] as const

export const callAddress = ({ origin, path }: Request) => `${origin}${path}`
