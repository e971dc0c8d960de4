/** The links of a chain as people read them: who changed what, and when. */
import type { Chain, Link } from '../../sigchain/index.ts'

export type Told = { seq: number; at: string; by: string; what: string }

/** The identity of a person: people keep their email address, also after they leave. */
type People = { emails: Map<string, string>; members: Set<string> }

/** In chain order, from the first link, or from the links after `earlier`. */
export function linksInWords(links: readonly Link[], earlier?: Chain): Told[] {
  const people: People = { emails: new Map(), members: new Set() }
  for (const member of earlier?.members.values() ?? []) learn(people, member)
  return links.map((link) => {
    const what = changeOf(link, people)
    return { seq: link.seq, at: link.at, by: people.emails.get(link.signer) ?? link.signer, what }
  })
}

function changeOf({ type, body, signer }: Link, people: People): string {
  switch (type) {
    case 'workspace.created':
      learn(people, body.founder)
      return 'created the workspace'
    case 'members.put':
      return body.members.map((member) => putInWords(member, people)).join('; ')
    case 'members.removed':
      return describeRemoved(body.user_ids, signer, people)
    case 'keys.rotated':
      return 'took new keys'
    case 'epoch.advanced':
      return `sealed everything under a new key (epoch ${body.epoch})`
    case 'allowlist.changed':
      return [phrase('allowed', body.add), phrase('disallowed', body.remove)]
        .filter(Boolean)
        .join('; ')
    case 'tokens.revoked':
      return `revoked ${body.token_ids.length} token${body.token_ids.length === 1 ? '' : 's'}: ${body.token_ids.join(', ')}`
    case 'workspace.deleted':
      return 'deleted the workspace'
  }
}

type Somebody = { user_id: string; email: string }

function learn({ emails, members }: People, { user_id, email }: Somebody): void {
  emails.set(user_id, email)
  members.add(user_id)
}

const roles: Record<string, string> = {
  owner: 'an owner',
  admin: 'an admin',
  member: 'a member',
  read_only: 'a read-only member',
}

function putInWords(member: Somebody & { role: string }, people: People): string {
  const wasThere = people.members.has(member.user_id)
  learn(people, member)
  return wasThere
    ? `made ${member.email} ${roles[member.role] ?? member.role}`
    : `invited ${member.email} as ${roles[member.role] ?? member.role}`
}

function describeRemoved(
  userIds: readonly string[],
  signer: string,
  { emails, members }: People,
): string {
  for (const userId of userIds) members.delete(userId)
  const others = userIds.filter((userId) => userId !== signer)
  const left = others.length < userIds.length ? 'left' : ''
  const removed = phrase(
    'removed',
    others.map((userId) => emails.get(userId) ?? userId),
  )
  return [left, removed].filter(Boolean).join('; ')
}

function phrase(verb: string, names: readonly string[]): string {
  return names.length === 0 ? '' : `${verb} ${names.join(', ')}`
}

/** Former members keep their address. */
export function emailsIn(links: readonly Link[]): Map<string, string> {
  const people = links.flatMap(({ type, body }) => {
    if (type === 'workspace.created') return [body.founder]
    return type === 'members.put' ? body.members : []
  })
  return new Map(people.map(({ user_id, email }) => [user_id, email]))
}
